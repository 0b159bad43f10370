#include "server/listen/peer.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
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

/* inet_ntop alone would take as long as the rest of a log line. */
static const char *print_v4(const unsigned char bytes[4], char text[SRV_PEER])
{
	char *out = text;
	for (int i = 0; i < 4; i++) {
		out = print_byte(bytes[i], out);
		*out++ = i < 3 ? '.' : '\0';
	}
	return text;
}

void srv_peer_read(int fd, const struct sockaddr *address, socklen_t bytes, struct srv_peer *peer)
{
	struct ucred process;
	socklen_t process_bytes = sizeof process;
	*peer = (struct srv_peer){.uid = (uid_t)-1}; /* belongs to no user */
	memcpy(&peer->address, address, bytes);
	if (srv_peer_is_unix(peer) && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &process, &process_bytes) == 0)
		peer->uid = process.uid;
}

bool srv_peer_is_unix(const struct srv_peer *peer)
{
	return peer && peer->address.ss_family == AF_UNIX;
}

bool srv_peers_are_told_apart(const char *uid_map)
{
	FILE *file = fopen(uid_map, "re");
	unsigned long long n_mapped = 0, n;
	if (!file)
		return true;
	while (fscanf(file, "%*u %*u %llu", &n) == 1)
		n_mapped += n;
	fclose(file);
	return n_mapped >= UINT32_MAX; /* all uids except the last, which belongs to no user */
}

static const char *print_user(uid_t uid, char text[SRV_PEER])
{
	snprintf(text, SRV_PEER, "uid:%lu", (unsigned long)uid);
	return text;
}

const char *srv_peer_print(const struct srv_peer *peer, char text[SRV_PEER])
{
	static const struct srv_peer unknown = {.address.ss_family = AF_UNSPEC};
	const struct sockaddr_storage *address = peer ? &peer->address : &unknown.address;
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	if (address->ss_family == AF_INET)
		return print_v4((const unsigned char *)&v4->sin_addr, text);
	if (address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return print_v4(v6->sin6_addr.s6_addr + 12, text);
	if (address->ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, text, SRV_PEER))
		return text;
	return srv_peer_is_unix(peer) ? print_user(peer->uid, text) : strcpy(text, "-");
}
