/**
 * What this process may use: the CPUs of its affinity mask and of its cgroup's quota, the memory of the machine and of
 * its cgroup's limit (v2 and v1).
 */
#ifndef SERVER_RESOURCES_H
#define SERVER_RESOURCES_H

enum {
	SRV_SPARE_FILES = 128,           /* open besides connections: 64 that linger, and some to spare */
	SRV_IO_THREAD_FILES = 2,         /* of each thread of the library: to wait, and to be woken */
	SRV_CONNECTION_BYTES = 88 << 10, /* of a connection, besides the memory of requests: heads, its TLS session */
};

/* >= 1 */
int srv_available_cpus(void);
/* Bytes, > 0 */
long long srv_available_memory(void);
/* Files that are needed besides connections. */
long long srv_files_beside(long long io_threads);
/* Connections that the hard limit on open files has room for, >= 1; a quarter of the limit where it is very low. */
long long srv_available_connections(long long io_threads);

/**
 * The tightest quota on the way from a process's cgroup to the root: CPUs rounded up, memory in bytes.
 * @param membership  a file like /proc/self/cgroup
 * @param mount       a directory like /sys/fs/cgroup
 * @return 0 if there is no quota or it cannot be read
 */
int srv_quota_cpus(const char *membership, const char *mount);
long long srv_quota_memory(const char *membership, const char *mount);

#endif
