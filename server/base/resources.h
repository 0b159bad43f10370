/**
 * Resources that this process may use: the CPUs of its affinity mask and its cgroup's quota, the memory of the machine
 * and its cgroup's limit (v1 and v2).
 */
#ifndef SERVER_RESOURCES_H
#define SERVER_RESOURCES_H

enum {
	SRV_SPARE_FILES = 128,           /* descriptors besides connections: 64 that linger, and some to spare */
	SRV_IO_THREAD_FILES = 2,         /* per thread of the HTTP library: an epoll and an eventfd */
	SRV_CONNECTION_BYTES = 88 << 10, /* per connection besides request memory: heads and the TLS session */
};

/* >= 1 */
int srv_available_cpus(void);
/* Bytes, > 0 */
long long srv_available_memory(void);
/* Number of descriptors needed in addition to those of connections. */
long long srv_files_beside(long long io_threads);
/* Number of connections that the hard limit on open files allows, >= 1; if the limit is very low, a quarter of it. */
long long srv_available_connections(long long io_threads);

/**
 * Finds the tightest quota between a process's cgroup and the root: CPUs rounded up, memory in bytes.
 * @param membership  a file like /proc/self/cgroup
 * @param mount       a directory like /sys/fs/cgroup
 * @return 0 if there is no quota or it cannot be read
 */
int srv_quota_cpus(const char *membership, const char *mount);
long long srv_quota_memory(const char *membership, const char *mount);

#endif
