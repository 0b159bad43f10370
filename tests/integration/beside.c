/* For test_selftest.sh: a statically linked library calls these functions, which are the originals, instead of the
 * reader's. */
#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

ssize_t beside_recv(int fd, void *bytes, size_t n, int flags);
ssize_t beside_recv(int fd, void *bytes, size_t n, int flags)
{
	return recvfrom(fd, bytes, n, flags, NULL, NULL);
}

ssize_t beside_gnutls_record_recv(gnutls_session_t session, void *bytes, size_t n);
ssize_t beside_gnutls_record_recv(gnutls_session_t session, void *bytes, size_t n)
{
	ssize_t (*original)(gnutls_session_t, void *, size_t);
	*(void **)(void *)&original = dlsym(RTLD_NEXT, "gnutls_record_recv");
	return original(session, bytes, n);
}
