#include "server/base/peer.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

static char *print_byte(unsigned byte, char *out)
{
	if (byte >= 100)
		*out++ = (char)('0' + byte / 100);
	if (byte >= 10)
		*out++ = (char)('0' + byte / 10 % 10);
	*out++ = (char)('0' + byte % 10);
	return out;
}

/* inet_ntop would take as long as all the rest of a line of the log. */
static const char *print_v4(const unsigned char bytes[4], char text[SRV_PEER])
{
	char *out = text;
	for (int i = 0; i < 4; i++) {
		out = print_byte(bytes[i], out);
		*out++ = i < 3 ? '.' : '\0';
	}
	return text;
}

const char *srv_peer_print(const struct sockaddr *address, char text[SRV_PEER])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
	if (address && address->sa_family == AF_INET)
		return print_v4((const unsigned char *)&v4->sin_addr, text);
	if (address && address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return print_v4(v6->sin6_addr.s6_addr + 12, text);
	if (address && address->sa_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, text, SRV_PEER))
		return text;
	return strcpy(text, "-");
}
