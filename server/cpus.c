#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int cpus_of(long long quota, long long period)
{
	if (quota <= 0 || period <= 0)
		return 0;
	long long cpus = quota / period + (quota % period != 0);
	return cpus < INT_MAX ? (int)cpus : 0;
}

/* cpu.max is "QUOTA PERIOD" or "max PERIOD"; v1 has a file for each, and -1 for none. */
static int quota_of(const char *directory)
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

static int tighter(int a, int b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Any ancestor may set a quota. Inside a container the path may be the host's, which does not exist below the mount:
 * the walk then finds nothing until it arrives at the mount itself, which is the container's own cgroup. */
static int quota_along(const char *mount, const char *path)
{
	char directory[PATH_MAX];
	if (snprintf(directory, sizeof directory, "%s%s", mount, path) >= (int)sizeof directory)
		return 0;
	int cpus = 0;
	for (size_t n = strlen(directory); n > strlen(mount); n = (size_t)(strrchr(directory, '/') - directory)) {
		directory[n] = '\0';
		cpus = tighter(cpus, quota_of(directory));
	}
	return tighter(cpus, quota_of(mount));
}

static bool names_cpu(char *controllers)
{
	for (char *rest = NULL, *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!strcmp(name, "cpu"))
			return true;
	return false;
}

/* A line is ID:CONTROLLERS:PATH; version 2 has id 0 and no controllers. */
static int quota_of_line(char *line, const char *mount)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return 0;
	*controllers++ = '\0';
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (*controllers == '\0')
		return quota_along(mount, path);
	char mount_v1[PATH_MAX];
	if (!names_cpu(controllers) || snprintf(mount_v1, sizeof mount_v1, "%s/cpu", mount) >= (int)sizeof mount_v1)
		return 0;
	return quota_along(mount_v1, path);
}

int srv_quota_cpus(const char *membership, const char *mount)
{
	FILE *file = fopen(membership, "re");
	if (!file)
		return 0;
	char line[PATH_MAX];
	int cpus = 0;
	while (fgets(line, sizeof line, file))
		cpus = tighter(cpus, quota_of_line(line, mount));
	fclose(file);
	return cpus;
}

int srv_available_cpus(void)
{
	cpu_set_t mask;
	int cpus = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
	cpus = tighter(cpus, srv_quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
	return cpus > 0 ? cpus : 1;
}
