/**
 * The certificate and key with which the server identifies itself under TLS. One per process, because GnuTLS's callback
 * carries no closure. Safe from any thread.
 */
#ifndef SERVER_CERTIFICATE_H
#define SERVER_CERTIFICATE_H

#include <gnutls/abstract.h>
#include <stdbool.h>

enum { SRV_CERTIFICATE_BYTES = 1 << 20, SRV_CERTIFICATE_CHAIN = 16, SRV_CERTIFICATE_MESSAGE = 512 };

/* TLS 1.2 and 1.3, restricted to cipher suites with forward secrecy and authenticated encryption. */
#define SRV_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:-AES-256-CBC"

/**
 * Reads both files, at start-up and on every reload. On failure the certificate in use stays.
 * @param certificate_path  PEM: the server's certificate, then the intermediate ones
 * @param key_path          PEM, not encrypted
 * @param message           on failure the fault; otherwise a warning, or empty
 */
bool srv_certificate_read(const char *certificate_path, const char *key_path, char message[SRV_CERTIFICATE_MESSAGE]);

/* A gnutls_certificate_retrieve_function3. Each session gets its own copy, so that a replaced certificate can be freed
 * at once. */
int srv_certificate_hand_out(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **chain,
                             unsigned *n, gnutls_ocsp_data_st **ocsp, unsigned *n_ocsp, gnutls_privkey_t *key,
                             unsigned *flags);

void srv_certificate_forget(void);

#endif
