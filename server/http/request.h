/** The library's callbacks: for connections, and for requests, which carry exchanges. */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include <microhttpd.h>

void srv_on_connection(void *http, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode code);
void *srv_on_target(void *http, const char *target, struct MHD_Connection *connection);
enum MHD_Result srv_on_request(void *http, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *n, void **context);
void srv_on_completed(void *http, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code);

#endif
