#include "server/access/certificate.h"

#include "server/access/file.h"

#include <gnutls/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct certificate {
	gnutls_x509_crt_t *chain; /* [n] */
	unsigned n;
	gnutls_x509_privkey_t key;
};

/* GnuTLS does not document which reading functions are safe to call concurrently on one object. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct certificate current;

static void free_certificate(struct certificate *certificate)
{
	for (unsigned i = 0; i < certificate->n; i++)
		gnutls_x509_crt_deinit(certificate->chain[i]);
	gnutls_free(certificate->chain);
	if (certificate->key)
		gnutls_x509_privkey_deinit(certificate->key);
	*certificate = (struct certificate){0};
}

static bool refuse(char *message, const char *path, const char *what, int error)
{
	snprintf(message, SRV_CERTIFICATE_MESSAGE, "%.200s: %s%s%s%s", path, what, error ? " (" : "",
	         error ? gnutls_strerror(error) : "", error ? ")" : "");
	return false;
}

static bool read_chain(const char *path, struct certificate *certificate, char *message)
{
	struct srv_file file;
	if (!srv_file_read(path, SRV_CERTIFICATE_BYTES, &file, message, SRV_CERTIFICATE_MESSAGE))
		return false;
	const gnutls_datum_t text = {(unsigned char *)file.bytes, (unsigned)file.n};
	const int error = gnutls_x509_crt_list_import2(&certificate->chain, &certificate->n, &text, GNUTLS_X509_FMT_PEM, 0);
	srv_file_free(&file);
	if (error < 0) {
		*certificate = (struct certificate){0};
		return refuse(message, path, "no certificate in PEM", error);
	}
	if (certificate->n > SRV_CERTIFICATE_CHAIN)
		return refuse(message, path, "too many certificates; a chain has at most 16", 0);
	return true;
}

static bool read_key(const char *path, struct certificate *certificate, bool *for_everybody, char *message)
{
	struct srv_file file;
	if (!srv_file_read(path, SRV_CERTIFICATE_BYTES, &file, message, SRV_CERTIFICATE_MESSAGE))
		return false;
	const gnutls_datum_t text = {(unsigned char *)file.bytes, (unsigned)file.n};
	int error = gnutls_x509_privkey_init(&certificate->key);
	if (error == 0)
		error = gnutls_x509_privkey_import2(certificate->key, &text, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	*for_everybody = file.for_everybody;
	srv_file_free(&file);
	if (error == GNUTLS_E_DECRYPTION_FAILED || error == GNUTLS_E_PK_INVALID_PUBKEY_PARAMS)
		return refuse(message, path, "the key cannot be used; it must not be encrypted", error);
	return error == 0 || refuse(message, path, "no private key in PEM that is not encrypted", error);
}

static bool belongs(const struct certificate *certificate)
{
	unsigned char of_certificate[64], of_key[64];
	size_t n = sizeof of_certificate, n_key = sizeof of_key;
	return gnutls_x509_crt_get_key_id(certificate->chain[0], GNUTLS_KEYID_USE_SHA256, of_certificate, &n) == 0 &&
	       gnutls_x509_privkey_get_key_id(certificate->key, GNUTLS_KEYID_USE_SHA256, of_key, &n_key) == 0 &&
	       n == n_key && memcmp(of_certificate, of_key, n) == 0;
}

static void warn(const struct certificate *certificate, const char *path, const char *key_path, bool for_everybody,
                 char *message)
{
	const time_t now = time(NULL);
	*message = '\0';
	if (gnutls_x509_crt_get_expiration_time(certificate->chain[0]) < now)
		refuse(message, path, "the certificate has expired", 0);
	else if (gnutls_x509_crt_get_activation_time(certificate->chain[0]) > now)
		refuse(message, path, "the certificate is not valid yet", 0);
	else if (for_everybody)
		refuse(message, key_path, "everybody on this machine may read or write it", 0);
}

static void replace(struct certificate *certificate)
{
	pthread_mutex_lock(&lock);
	struct certificate old = current;
	current = *certificate;
	pthread_mutex_unlock(&lock);
	free_certificate(&old);
}

bool srv_certificate_read(const char *certificate_path, const char *key_path, char message[SRV_CERTIFICATE_MESSAGE])
{
	struct certificate certificate = {0};
	bool for_everybody;
	if (read_chain(certificate_path, &certificate, message) &&
	    read_key(key_path, &certificate, &for_everybody, message)) {
		if (belongs(&certificate)) {
			warn(&certificate, certificate_path, key_path, for_everybody, message);
			replace(&certificate);
			return true;
		}
		refuse(message, key_path, "the key does not belong to the certificate", 0);
	}
	free_certificate(&certificate);
	return false;
}

void srv_certificate_forget(void)
{
	replace(&(struct certificate){0});
}

static int copy_key(gnutls_privkey_t *key)
{
	int error = gnutls_privkey_init(key);
	if (error < 0)
		return error;
	error = gnutls_privkey_import_x509(*key, current.key, GNUTLS_PRIVKEY_IMPORT_COPY);
	if (error < 0)
		gnutls_privkey_deinit(*key);
	return error;
}

static int copy_chain(gnutls_pcert_st *chain, unsigned *n)
{
	int error = current.n ? 0 : GNUTLS_E_NO_CERTIFICATE_FOUND;
	for (*n = 0; error == 0 && *n < current.n; *n += error == 0)
		error = gnutls_pcert_import_x509(&chain[*n], current.chain[*n], 0);
	return error;
}

static int copy(gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key)
{
	*n = 0;
	*chain = gnutls_calloc(SRV_CERTIFICATE_CHAIN, sizeof **chain);
	int error = *chain ? copy_chain(*chain, n) : GNUTLS_E_MEMORY_ERROR;
	if (error == 0)
		error = copy_key(key);
	if (error == 0)
		return 0;
	for (unsigned i = 0; i < *n; i++)
		gnutls_pcert_deinit(&(*chain)[i]);
	gnutls_free(*chain);
	return error;
}

int srv_certificate_hand_out(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **chain,
                             unsigned *n, gnutls_ocsp_data_st **ocsp, unsigned *n_ocsp, gnutls_privkey_t *key,
                             unsigned *flags)
{
	(void)session, (void)info;
	*ocsp = NULL;
	*n_ocsp = 0;
	pthread_mutex_lock(&lock);
	const int error = copy(chain, n, key);
	pthread_mutex_unlock(&lock);
	if (error == 0)
		*flags |= GNUTLS_CERT_RETR_DEINIT_ALL;
	return error < 0 ? -1 : 0;
}
