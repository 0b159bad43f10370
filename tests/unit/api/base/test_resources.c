#include "api/base/resources.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[] = "/tmp/test_resources.XXXXXX";

/* Writes root/path, and creates its directories. */
static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	snprintf(full, sizeof full, "%s/%s", root, path);
	for (char *slash = strchr(full + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int quota(const char *membership)
{
	char file[PATH_MAX], mount[PATH_MAX];
	put("membership", membership);
	snprintf(file, sizeof file, "%s/membership", root);
	snprintf(mount, sizeof mount, "%s/mount", root);
	return api_quota_cpus(file, mount);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof root - 7, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(api_quota_cpus("/nowhere/membership", root), 0);
	assert_int_equal(quota("0::/\n"), 0);
	assert_int_equal(quota("nonsense\n0::\n"), 0);
	put("mount/cpu.max", "max 100000\n");
	assert_int_equal(quota("0::/\n"), 0);
	put("mount/cpu.max", "nonsense\n");
	assert_int_equal(quota("0::/\n"), 0);
}

static void test_version_2(void **state)
{
	(void)state;
	put("mount/cpu.max", "150000 100000\n");
	assert_int_equal(quota("0::/\n"), 2);
	assert_int_equal(quota("0::/host/path/that/is/not/here\n"), 2);
	put("mount/a/cpu.max", "100000 100000\n");
	put("mount/a/b/cpu.max", "800000 100000\n");
	assert_int_equal(quota("0::/a/b\n"), 1);
	put("mount/a/cpu.max", "max 100000\n");
	assert_int_equal(quota("0::/a/b\n"), 2);
	put("mount/cpu.max", "50000 100000\n");
	assert_int_equal(quota("0::/a/b\n"), 1);
}

static void test_version_1(void **state)
{
	(void)state;
	put("mount/cpu/a/cpu.cfs_quota_us", "300000\n");
	put("mount/cpu/a/cpu.cfs_period_us", "100000\n");
	assert_int_equal(quota("5:memory:/a\n4:cpu,cpuacct:/a\n0::/\n"), 3);
	assert_int_equal(quota("4:cpuset:/a\n"), 0);
	put("mount/cpu/a/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(quota("4:cpu:/a\n"), 0);
}

static void test_memory(void **state)
{
	(void)state;
	char file[PATH_MAX], mount[PATH_MAX];
	snprintf(file, sizeof file, "%s/membership", root);
	snprintf(mount, sizeof mount, "%s/mount", root);
	put("membership", "7:memory:/a\n0::/b\n");
	put("mount/memory.max", "max\n");
	assert_int_equal(api_quota_memory(file, mount), 0);
	put("mount/b/memory.max", "1000000\n");
	assert_int_equal(api_quota_memory(file, mount), 1000000);
	put("mount/memory/a/memory.limit_in_bytes", "500000\n");
	assert_int_equal(api_quota_memory(file, mount), 500000);
	put("mount/memory.max", "8589934592\n");
	put("mount/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	put("mount/b/memory.max", "max\n");
	assert_int_equal(api_quota_memory(file, mount), 8589934592);
}

static void test_available(void **state)
{
	(void)state;
	assert_true(api_available_cpus() >= 1);
	assert_true(api_available_memory() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_version_2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_version_1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
		cmocka_unit_test(test_available),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
