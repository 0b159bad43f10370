/**
 * The certificate and key with which the server identifies itself under TLS. There is one in the process, because
 * GnuTLS does not say on whose behalf it asks for it. Safe from any thread.
 */
#ifndef SERVER_CERTIFICATE_H
#define SERVER_CERTIFICATE_H

#include <gnutls/abstract.h>
#include <stdbool.h>

enum { SRV_CERTIFICATE_BYTES = 1 << 20, SRV_CERTIFICATE_CHAIN = 16, SRV_CERTIFICATE_MESSAGE = 512 };

/* TLS 1.2 and 1.3, only with forward secrecy and authenticated encryption. */
#define SRV_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:-AES-256-CBC"

/**
 * Reads both files, at the start and again whenever they may have changed. On failure what there was stays in use.
 * @param certificate_path  PEM: the server's certificate, then the intermediate ones
 * @param key_path          PEM, not encrypted
 * @param message           on failure what is wrong; else a warning, or empty
 */
bool srv_certificate_read(const char *certificate_path, const char *key_path, char message[SRV_CERTIFICATE_MESSAGE]);

/* A gnutls_certificate_retrieve_function3: a copy for each session, so that nothing of an old certificate is still in
 * use when it is replaced. */
int srv_certificate_hand_out(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **chain,
                             unsigned *n, gnutls_ocsp_data_st **ocsp, unsigned *n_ocsp, gnutls_privkey_t *key,
                             unsigned *flags);

void srv_certificate_forget(void);

#endif
