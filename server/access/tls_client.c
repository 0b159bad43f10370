#include "server/access/tls_client.h"

#include "server/access/certificate.h"

bool srv_tls_client_open(struct srv_tls_client *client, int fd, unsigned flags)
{
	if (gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL | flags) != 0 ||
	    gnutls_certificate_allocate_credentials(&client->credentials) != 0 ||
	    gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials) != 0 ||
	    gnutls_priority_set_direct(client->session, SRV_TLS_PRIORITIES, NULL) != 0)
		return false;
	gnutls_transport_set_int(client->session, fd);
	return true;
}

void srv_tls_client_close(struct srv_tls_client *client)
{
	if (client->session)
		gnutls_deinit(client->session);
	if (client->credentials)
		gnutls_certificate_free_credentials(client->credentials);
	*client = (struct srv_tls_client){0};
}
