/**
 * Puts the filter of wire.h between the sockets and the HTTP library. The library has no hook there, but it reads with
 * recv(), or gnutls_record_recv() under TLS: this program has functions of these names, which the dynamic linker
 * prefers to those of the system. For a descriptor without a reader they do what those do. TLS sessions are also ended
 * properly here, before they are freed.
 *
 * libmicrohttpd with epoll takes a short read for an empty socket, and waits for the next event. So a read returns less
 * than it was asked for only if the socket is empty and everything that may pass has been returned. Under TLS the
 * library asks the session whether more is pending before it waits; what is held here counts there.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include "server/http/wire.h"

enum { SRV_READER_MOST = 64 << 10 }; /* most bytes that the library may ask for at once */

struct srv_reader;

/**
 * Makes the table of readers, for all descriptors up to the limit of the process. To be called first; a second call
 * does nothing.
 * @return false if memory does not suffice
 */
bool srv_readers_start(void);
/* All descriptors that have readers are less than this. */
size_t srv_readers_most(void);
/* The name of a function that the dynamic linker finds elsewhere than here; NULL if there is none. */
const char *srv_readers_missing(void);

/**
 * From now on what arrives at fd is filtered. Reads are made by one thread at a time.
 * @param tls      gnutls_record_recv() is filtered rather than recv()
 * @param seconds  how long a head or a body in chunks may take to arrive; after that the fault is 408
 * @param owner    what srv_reader_owner returns
 * @return NULL if memory does not suffice, or fd is beyond the limit
 */
struct srv_reader *srv_reader_open(int fd, bool tls, long long seconds, void *owner);
/* NULL: fd has no reader, or that has no owner. */
void *srv_reader_owner(int fd);
/* Before fd is closed. */
void srv_reader_close(struct srv_reader *reader);

/* As srv_wire_fault. */
enum api_code srv_reader_fault(const struct srv_reader *reader, size_t message, const char **detail);
/* As srv_wire_replaced. */
bool srv_reader_replaced(const struct srv_reader *reader, size_t message);
/* Part of a head has arrived, and the library knows nothing of it. */
bool srv_reader_holds_head(const struct srv_reader *reader);
/* The message under way has had all its time; also within a body of announced length, where the reader reports no
 * fault. */
bool srv_reader_is_late(const struct srv_reader *reader);
/* The client has closed its sending side. */
bool srv_reader_ended(const struct srv_reader *reader);
/**
 * The library closes a connection when it reads the end of the stream, although it owes an answer to a whole request.
 * So while a request is computed the end is kept back: reads find nothing. On the thread that reads.
 */
void srv_reader_keep_end(struct srv_reader *reader, bool keep);

#endif
