/**
 * Resources that this process may use: the CPUs of its affinity mask and its cgroup's quota, the memory of the machine
 * and its cgroup's limit (v1 and v2).
 */
#ifndef API_RESOURCES_H
#define API_RESOURCES_H

/* The number of CPUs, >= 1. */
int api_available_cpus(void);
/* The memory in bytes, > 0. */
long long api_available_memory(void);

/**
 * Finds the tightest quota between a process's cgroup and the root: CPUs rounded up, memory in bytes.
 * @param membership  a file like /proc/self/cgroup
 * @param mount       a directory like /sys/fs/cgroup
 * @return 0 if there is no quota or it cannot be read
 */
int api_quota_cpus(const char *membership, const char *mount);
long long api_quota_memory(const char *membership, const char *mount);

#endif
