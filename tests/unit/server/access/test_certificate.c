#include "server/access/certificate.h"

#include <gnutls/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { DAY = 86400 };

static char folder[] = "/tmp/certificate-XXXXXX";
static char message[SRV_CERTIFICATE_MESSAGE];

static const char *path_of(const char *name)
{
	static char paths[4][160];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	FILE *file = fopen(path_of(name), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	chmod(path_of(name), 0600);
}

static void write_datum(const char *name, gnutls_datum_t datum)
{
	write_file(name, datum.data, datum.size);
	gnutls_free(datum.data);
}

static void write_key(const char *name, gnutls_x509_privkey_t key)
{
	gnutls_datum_t text;
	char encrypted[96];
	assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text), 0);
	write_datum(name, text);
	snprintf(encrypted, sizeof encrypted, "encrypted-%s", name);
	assert_int_equal(
		gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, "secret", GNUTLS_PKCS_PBES2_AES_128, &text), 0);
	write_datum(encrypted, text);
}

/* Writes a self-signed certificate and its key, NAME.crt and NAME.key. `from` and `to` are in seconds from now. */
static void make(const char *name, gnutls_pk_algorithm_t algorithm, unsigned bits, long from, long to)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
	gnutls_datum_t text;
	char file[64];
	gnutls_x509_privkey_init(&key);
	gnutls_x509_crt_init(&certificate);
	assert_int_equal(gnutls_x509_privkey_generate(key, algorithm, bits, 0), 0);
	gnutls_x509_crt_set_version(certificate, 3);
	gnutls_x509_crt_set_serial(certificate, "\1", 1);
	gnutls_x509_crt_set_dn(certificate, "CN=localhost", NULL);
	gnutls_x509_crt_set_activation_time(certificate, time(NULL) + from);
	gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + to);
	gnutls_x509_crt_set_key(certificate, key);
	assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
	assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text), 0);
	snprintf(file, sizeof file, "%s.crt", name);
	write_datum(file, text);
	snprintf(file, sizeof file, "%s.key", name);
	write_key(file, key);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
}

static void refuses(const char *certificate, const char *key, const char *culprit, const char *what)
{
	assert_false(srv_certificate_read(path_of(certificate), path_of(key), message));
	assert_non_null(strstr(message, culprit));
	assert_non_null(strstr(message, what));
}

static void accepts(const char *certificate, const char *key, const char *warning)
{
	const bool accepted = srv_certificate_read(path_of(certificate), path_of(key), message);
	if (!accepted || !*warning)
		assert_string_equal(message, "");
	assert_true(accepted);
	assert_non_null(strstr(message, warning));
}

static void test_pairs(void **state)
{
	(void)state;
	accepts("a.crt", "a.key", "");
	accepts("rsa.crt", "rsa.key", "");
	accepts("old.crt", "old.key", "old.crt: the certificate has expired");
	accepts("young.crt", "young.key", "young.crt: the certificate is not valid yet");
	chmod(path_of("a.key"), 0644);
	accepts("a.crt", "a.key", "a.key: everybody");
	chmod(path_of("a.key"), 0600);
}

/* A chain of the maximum length, and one certificate more. */
static void test_long_chains(void **state)
{
	(void)state;
	static char one[1 << 14], all[1 << 18];
	FILE *file = fopen(path_of("a.crt"), "r");
	assert_non_null(file);
	const size_t n = fread(one, 1, sizeof one, file);
	fclose(file);
	for (size_t i = 0; i <= SRV_CERTIFICATE_CHAIN; i++)
		memcpy(all + i * n, one, n);
	write_file("longest.crt", all, SRV_CERTIFICATE_CHAIN * n);
	write_file("longer.crt", all, (SRV_CERTIFICATE_CHAIN + 1) * n);
	accepts("longest.crt", "a.key", "");
	refuses("longer.crt", "a.key", "longer.crt", "too many certificates");
}

static void test_faults(void **state)
{
	(void)state;
	write_file("text", "hello\n", 6);
	write_file("empty", "", 0);
	refuses("none", "a.key", "none", "No such file");
	refuses("a.crt", "none", "none", "No such file");
	refuses("text", "a.key", "text", "no certificate in PEM");
	refuses("empty", "a.key", "empty", "no certificate in PEM");
	refuses("a.key", "a.key", "a.key", "no certificate in PEM");
	refuses("a.crt", "text", "text", "no private key in PEM");
	refuses("a.crt", "empty", "empty", "no private key in PEM");
	refuses("a.crt", "a.crt", "a.crt", "no private key in PEM");
	refuses("a.crt", "encrypted-a.key", "encrypted-a.key", "encrypted");
	refuses("a.crt", "b.key", "b.key", "the key does not belong to the certificate");
	refuses("", "a.key", folder, "not a regular file");
}

struct copy {
	gnutls_pcert_st *chain;
	unsigned n, n_ocsp, flags;
	gnutls_ocsp_data_st *ocsp;
	gnutls_privkey_t key;
};

static int hand_out(struct copy *copy)
{
	*copy = (struct copy){.n_ocsp = 7};
	return srv_certificate_hand_out(NULL, NULL, &copy->chain, &copy->n, &copy->ocsp, &copy->n_ocsp, &copy->key,
	                                &copy->flags);
}

static void forget(struct copy *copy)
{
	for (unsigned i = 0; i < copy->n; i++)
		gnutls_pcert_deinit(&copy->chain[i]);
	gnutls_free(copy->chain);
	gnutls_privkey_deinit(copy->key);
}

/* A session's copy outlives the certificate's replacement, and a refused file replaces nothing. */
static void test_copies(void **state)
{
	(void)state;
	struct copy first, second;
	accepts("a.crt", "a.key", "");
	assert_int_equal(hand_out(&first), 0);
	assert_int_equal(first.n, 1);
	assert_int_equal(first.n_ocsp, 0);
	assert_true(first.flags & GNUTLS_CERT_RETR_DEINIT_ALL);
	refuses("text", "b.key", "text", "");
	assert_int_equal(hand_out(&second), 0);
	assert_int_equal(first.chain[0].cert.size, second.chain[0].cert.size);
	assert_memory_equal(first.chain[0].cert.data, second.chain[0].cert.data, first.chain[0].cert.size);
	forget(&second);
	accepts("b.crt", "b.key", "");
	assert_int_equal(hand_out(&second), 0);
	assert_true(first.chain[0].cert.size != second.chain[0].cert.size ||
	            memcmp(first.chain[0].cert.data, second.chain[0].cert.data, first.chain[0].cert.size) != 0);
	srv_certificate_forget();
	assert_int_equal(gnutls_privkey_get_pk_algorithm(first.key, NULL), GNUTLS_PK_ECDSA);
	forget(&first);
	forget(&second);
	assert_int_equal(hand_out(&first), -1);
}

static void test_priorities(void **state)
{
	(void)state;
	gnutls_priority_t priorities;
	const char *at;
	assert_int_equal(gnutls_priority_init(&priorities, SRV_TLS_PRIORITIES, &at), 0);
	const unsigned *versions;
	const int n = gnutls_priority_protocol_list(priorities, &versions);
	assert_int_equal(n, 2);
	for (int i = 0; i < n; i++)
		assert_true(versions[i] == GNUTLS_TLS1_2 || versions[i] == GNUTLS_TLS1_3);
	gnutls_priority_deinit(priorities);
}

static int make_all(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	const unsigned p256 = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	make("a", GNUTLS_PK_ECDSA, p256, -DAY, DAY);
	make("b", GNUTLS_PK_ECDSA, p256, -DAY, DAY);
	make("rsa", GNUTLS_PK_RSA, 2048, -DAY, DAY);
	make("old", GNUTLS_PK_ECDSA, p256, -2 * DAY, -DAY);
	make("young", GNUTLS_PK_ECDSA, p256, DAY, 2 * DAY);
	return 0;
}

static int remove_all(void **state)
{
	static const char *const names[] = {"a", "b", "rsa", "old", "young"};
	char file[64];
	(void)state;
	srv_certificate_forget();
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(file, sizeof file, "%s.crt", names[i]);
		unlink(path_of(file));
		snprintf(file, sizeof file, "%s.key", names[i]);
		unlink(path_of(file));
		snprintf(file, sizeof file, "encrypted-%s.key", names[i]);
		unlink(path_of(file));
	}
	unlink(path_of("text"));
	unlink(path_of("empty"));
	unlink(path_of("longest.crt"));
	unlink(path_of("longer.crt"));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),  cmocka_unit_test(test_long_chains), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_copies), cmocka_unit_test(test_priorities),
	};
	return cmocka_run_group_tests(tests, make_all, remove_all);
}
