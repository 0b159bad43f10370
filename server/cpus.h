/** How many CPUs this process may use: the affinity mask, capped by the CPU quota of its cgroup (v2 and v1). */
#ifndef SERVER_CPUS_H
#define SERVER_CPUS_H

/* >= 1 */
int srv_available_cpus(void);

/**
 * The tightest quota on the way from a process's cgroup to the root, in CPUs rounded up.
 * @param membership  a file like /proc/self/cgroup
 * @param mount       a directory like /sys/fs/cgroup
 * @return 0 if there is no quota or it cannot be read
 */
int srv_quota_cpus(const char *membership, const char *mount);

#endif
