#include "server/listen/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Uses SO_REUSEADDR, because an earlier process's connections in TIME_WAIT must not keep the port occupied. */
static int try_address(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int yes = 1, no = 0;
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static union srv_address address_of(int fd)
{
	union srv_address address = {0};
	socklen_t bytes = sizeof address;
	if (getsockname(fd, &address.any, &bytes) != 0)
		address = (union srv_address){0};
	return address;
}

static int port_of(int fd)
{
	const union srv_address address = address_of(fd);
	return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/* Checks the socket's own address, because a name may resolve to another address a moment later. */
bool srv_is_on_loopback(int fd)
{
	const union srv_address address = address_of(fd);
	if (address.any.sa_family == AF_INET)
		return ntohl(address.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	const struct in6_addr *v6 = &address.v6.sin6_addr;
	return address.any.sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET));
}

/* "localhost" is loopback (RFC 6761, 6.3) even without an entry in a hosts file, as in small containers. */
int srv_find_addresses(const char *host, int port, struct addrinfo **addresses)
{
	char service[16];
	snprintf(service, sizeof service, "%d", port);
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	const int failure = getaddrinfo(host, service, &hints, addresses);
	return failure && strcmp(host, "localhost") == 0 ? getaddrinfo("127.0.0.1", service, &hints, addresses) : failure;
}

static struct srv_listen_fault last_fault(void)
{
	return (struct srv_listen_fault){strerror(errno), errno};
}

int srv_bind(const char *host, int *port, struct srv_listen_fault *fault)
{
	struct addrinfo *addresses;
	const int failure = srv_find_addresses(host, *port, &addresses);
	if (failure) {
		*fault = (struct srv_listen_fault){.text = gai_strerror(failure)};
		return -1;
	}
	int fd = -1;
	for (const struct addrinfo *address = addresses; address && fd < 0; address = address->ai_next)
		fd = try_address(address);
	*fault = last_fault();
	freeaddrinfo(addresses);
	if (fd >= 0)
		*port = port_of(fd);
	return fd;
}

bool srv_listen(int fd, struct srv_listen_fault *fault)
{
	if (listen(fd, SOMAXCONN) == 0)
		return true;
	*fault = last_fault();
	return false;
}
