#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for sched_getaffinity */
#endif
#include "api/base/resources.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_line(const char *directory, const char *name, char *line, size_t bytes)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return false;
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool ok = fgets(line, (int)bytes, file) != NULL;
	fclose(file);
	return ok;
}

/* Limit set by this cgroup directory itself; 0: none. */
typedef long long own_limit(const char *directory);

static long long cpus_of(long long quota, long long period)
{
	if (quota <= 0 || period <= 0)
		return 0;
	const long long cpus = quota / period + (quota % period != 0);
	return cpus < INT_MAX ? cpus : 0;
}

/* In v2 cpu.max holds "QUOTA PERIOD" or "max PERIOD"; v1 has one file for each value, and -1 for no quota. */
static long long cpus_in(const char *directory)
{
	char line[64];
	long long quota = 0, period = 0;
	if (read_line(directory, "cpu.max", line, sizeof line))
		return sscanf(line, "%lld %lld", &quota, &period) == 2 ? cpus_of(quota, period) : 0;
	if (read_line(directory, "cpu.cfs_quota_us", line, sizeof line))
		quota = strtoll(line, NULL, 10);
	if (read_line(directory, "cpu.cfs_period_us", line, sizeof line))
		period = strtoll(line, NULL, 10);
	return cpus_of(quota, period);
}

/* Version 1 reports no limit as a number larger than any memory, which needs no special case. */
static long long memory_in(const char *directory)
{
	char line[64];
	if (!read_line(directory, "memory.max", line, sizeof line) &&
	    !read_line(directory, "memory.limit_in_bytes", line, sizeof line))
		return 0;
	const long long bytes = strtoll(line, NULL, 10); /* "max" parses as 0 */
	return bytes > 0 ? bytes : 0;
}

static long long tighter(long long a, long long b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Any ancestor may set a quota. Inside a container the path may be the host's and not exist below the mount; the walk
 * then finds nothing until it reaches the mount itself, which is the container's own cgroup. */
static long long limit_along(const char *mount, const char *path, own_limit *own)
{
	char directory[PATH_MAX];
	if (snprintf(directory, sizeof directory, "%s%s", mount, path) >= (int)sizeof directory)
		return 0;
	long long limit = 0;
	for (size_t n = strlen(directory); n > strlen(mount); n = (size_t)(strrchr(directory, '/') - directory)) {
		directory[n] = '\0';
		limit = tighter(limit, own(directory));
	}
	return tighter(limit, own(mount));
}

static bool names(char *controllers, const char *controller)
{
	for (char *rest = NULL, *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!strcmp(name, controller))
			return true;
	return false;
}

/* Lines have the form ID:CONTROLLERS:PATH; version 2 has id 0 and no controllers. */
static long long limit_of_line(char *line, const char *mount, const char *controller, own_limit *own)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return 0;
	*controllers++ = '\0';
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (*controllers == '\0')
		return limit_along(mount, path, own);
	char mount_v1[PATH_MAX];
	if (!names(controllers, controller) ||
	    snprintf(mount_v1, sizeof mount_v1, "%s/%s", mount, controller) >= (int)sizeof mount_v1)
		return 0;
	return limit_along(mount_v1, path, own);
}

static long long limit_of(const char *membership, const char *mount, const char *controller, own_limit *own)
{
	FILE *file = fopen(membership, "re");
	if (!file)
		return 0;
	char line[PATH_MAX];
	long long limit = 0;
	while (fgets(line, sizeof line, file))
		limit = tighter(limit, limit_of_line(line, mount, controller, own));
	fclose(file);
	return limit;
}

int api_quota_cpus(const char *membership, const char *mount)
{
	return (int)limit_of(membership, mount, "cpu", cpus_in);
}

long long api_quota_memory(const char *membership, const char *mount)
{
	return limit_of(membership, mount, "memory", memory_in);
}

int api_available_cpus(void)
{
	cpu_set_t mask;
	const long long cpus = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
	const long long allowed = tighter(cpus, api_quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
	return allowed > 0 ? (int)allowed : 1;
}

long long api_available_memory(void)
{
	const long long machine = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	const long long quota = api_quota_memory("/proc/self/cgroup", "/sys/fs/cgroup");
	const long long allowed = tighter(machine > 0 ? machine : 0, quota);
	return allowed > 0 ? allowed : 1LL << 30;
}
