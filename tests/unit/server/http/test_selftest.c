/* The self-test with the filter in place. tests/integration/test_selftest.sh covers programs without it. */
#include "server/http/selftest.h"

#include "server/access/certificate.h"
#include "server/http/reader.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int n_files(void)
{
	int n = 0;
	DIR *files = opendir("/proc/self/fd");
	while (readdir(files))
		n++;
	closedir(files);
	return n;
}

/* The first run opens descriptors that GnuTLS keeps open. */
static void leaves_nothing(bool tls)
{
	assert_true(srv_selftest(tls));
	const int before = n_files();
	for (int i = 0; i < 3; i++)
		assert_true(srv_selftest(tls));
	assert_int_equal(n_files(), before);
}

static void test_in_the_clear(void **state)
{
	(void)state;
	leaves_nothing(false);
	assert_null(srv_readers_missing());
}

static void test_tls(void **state)
{
	(void)state;
	char folder[] = "/tmp/frictiond-selftest-XXXXXX", command[256], key[64], certificate[64];
	char message[SRV_CERTIFICATE_MESSAGE];
	assert_non_null(mkdtemp(folder));
	snprintf(key, sizeof key, "%s/key", folder);
	snprintf(certificate, sizeof certificate, "%s/certificate", folder);
	snprintf(command, sizeof command,
	         "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
	         "-subj /CN=a -keyout %s -out %s 2>/dev/null",
	         key, certificate);
	assert_int_equal(system(command), 0);
	assert_true(srv_certificate_read(certificate, key, message));
	leaves_nothing(true);
	srv_certificate_forget();
	unlink(key);
	unlink(certificate);
	rmdir(folder);
}

/* Without a certificate the handshake fails, which is no evidence against the filter. */
static void test_no_handshake(void **state)
{
	(void)state;
	assert_true(srv_selftest(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_the_clear),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_no_handshake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
