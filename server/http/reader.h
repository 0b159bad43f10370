/**
 * Puts the filter of wire.h between the sockets and the HTTP library. The library has no hook there, but it reads with
 * recv(), or gnutls_record_recv() under TLS: this program has functions of these names, which the dynamic linker prefers to
 * those of the system. For a descriptor without a reader they are what they always were. A TLS session also says goodbye
 * here before it is freed.
 *
 * libmicrohttpd with epoll takes a short read for an empty socket and waits for the next event. So a read that gives less
 * than it was asked for has seen the socket empty: whatever could be let through has been. Under TLS it looks into the
 * session before it waits; what is held here counts there.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include "server/http/wire.h"

enum { SRV_READER_MOST = 64 << 10 }; /* most bytes that the library may ask for at once */

struct srv_reader;

/**
 * All descriptors up to the limit of the process can then have readers. Before any; a second call does nothing.
 * @return false if memory does not suffice
 */
bool srv_readers_start(void);
/* No descriptor of a reader is as large as this. */
size_t srv_readers_most(void);
/* The name of a function that is looked for here, and is found elsewhere; NULL if there is none. */
const char *srv_readers_missing(void);

/**
 * From now on what arrives at fd is filtered. Reads are made by one thread at a time.
 * @param tls      gnutls_record_recv() is filtered rather than recv()
 * @param seconds  how long a head or a body in chunks may take to arrive; then it has the fault 408
 * @param owner    what srv_reader_owner returns
 * @return NULL if memory does not suffice, or fd is beyond the limit
 */
struct srv_reader *srv_reader_open(int fd, bool tls, long long seconds, void *owner);
/* NULL: fd has no reader, or that has no owner. */
void *srv_reader_owner(int fd);
/* Before fd is closed. */
void srv_reader_close(struct srv_reader *reader);

/* As srv_wire_fault. */
int srv_reader_fault(const struct srv_reader *reader, size_t message, const char **detail);
/* As srv_wire_replaced. */
bool srv_reader_replaced(const struct srv_reader *reader, size_t message);
/* Part of a head has arrived, and the library knows nothing of it. */
bool srv_reader_holds_head(const struct srv_reader *reader);
/* The message under way has taken longer than it may: also the inside of a body, which ends in no fault of the reader's. */
bool srv_reader_is_late(const struct srv_reader *reader);
/* The client has closed its sending side. */
bool srv_reader_ended(const struct srv_reader *reader);
/**
 * The library closes a connection when it reads the end of the stream, although it owes an answer to a whole request. So
 * from a request that is computed until its answer is there, the end is not told: nothing has arrived. On the thread that
 * reads.
 */
void srv_reader_keep_end(struct srv_reader *reader, bool keep);

#endif
