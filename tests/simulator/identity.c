#include "tests/simulator/identity.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400, YEAR = 365 * DAY };

static bool write_file(const gnutls_datum_t *text, char path[IDENTITY_PATH])
{
	const int fd = memfd_create("identity", MFD_CLOEXEC);
	snprintf(path, IDENTITY_PATH, "/proc/self/fd/%d", fd);
	return fd >= 0 && write(fd, text->data, text->size) == (ssize_t)text->size;
}

/* Ed25519 signatures have a fixed length, so a seed yields the same byte counts every time. */
static bool fill(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
	static const char serial[] = {1};
	const time_t now = time(NULL);
	return gnutls_x509_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519, 256, 0) == 0 &&
	       gnutls_x509_crt_set_version(certificate, 3) == 0 &&
	       gnutls_x509_crt_set_serial(certificate, serial, 1) == 0 &&
	       gnutls_x509_crt_set_dn(certificate, "CN=localhost", NULL) == 0 &&
	       gnutls_x509_crt_set_activation_time(certificate, now - DAY) == 0 &&
	       gnutls_x509_crt_set_expiration_time(certificate, now + 10L * YEAR) == 0 &&
	       gnutls_x509_crt_set_key(certificate, key) == 0 &&
	       gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA512, 0) == 0;
}

bool identity_make(char certificate_path[IDENTITY_PATH], char key_path[IDENTITY_PATH])
{
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
	gnutls_datum_t certificate_text = {0}, key_text = {0};
	gnutls_x509_crt_init(&certificate);
	gnutls_x509_privkey_init(&key);
	const gnutls_x509_crt_fmt_t pem = GNUTLS_X509_FMT_PEM;
	const bool made = fill(certificate, key) && gnutls_x509_crt_export2(certificate, pem, &certificate_text) == 0 &&
	                  gnutls_x509_privkey_export2_pkcs8(key, pem, NULL, GNUTLS_PKCS_PLAIN, &key_text) == 0 &&
	                  write_file(&certificate_text, certificate_path) && write_file(&key_text, key_path);
	gnutls_free(certificate_text.data);
	gnutls_free(key_text.data);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
	return made;
}
