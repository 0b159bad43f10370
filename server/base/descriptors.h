/**
 * File descriptors of connections and of everything else, and the memory of connections.
 */
#ifndef SERVER_DESCRIPTORS_H
#define SERVER_DESCRIPTORS_H

enum {
	SRV_SPARE_FILES = 128,           /* descriptors besides connections: 64 that linger, and some to spare */
	SRV_IO_THREAD_FILES = 2,         /* per thread of the HTTP library: an epoll and an eventfd */
	SRV_CONNECTION_BYTES = 88 << 10, /* per connection besides request memory: heads and the TLS session */
};

/* The number of descriptors needed besides connections. */
long long srv_files_beside(long long io_threads);
/* Number of connections that the hard limit on open files allows, >= 1; if the limit is very low, a quarter of it. */
long long srv_available_connections(long long io_threads);

#endif
