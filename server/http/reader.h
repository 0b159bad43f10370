/**
 * Puts the filter of wire.h between the sockets and the HTTP library. The library has no hook there, but it reads with
 * recv(), or gnutls_record_recv() under TLS: this program defines functions of these names, which the dynamic linker
 * prefers to the originals. For a descriptor without a reader they behave like the originals. They also end TLS
 * sessions properly before these are freed, and keep the library from sleeping while events are at hand.
 *
 * libmicrohttpd with epoll takes a short read for an empty socket and waits for the next event. So a read returns fewer
 * bytes than requested only if the socket is empty and everything that may pass has been returned. Under TLS the
 * library first checks whether the session has data pending; bytes held here are included in that.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include "server/http/wire.h"

enum { SRV_READER_MOST = 64 << 10 }; /* longest read that the library may request */

struct srv_reader;

/**
 * Makes the table of readers, for all descriptors up to the limit of the process. Must be called first; a second call
 * does nothing.
 * @return false if memory runs out
 */
bool srv_readers_start(void);
/* Upper bound on the descriptors that can have readers. */
size_t srv_readers_most(void);
/* The name of an overridden function that the dynamic linker resolves elsewhere; NULL: none. */
const char *srv_readers_missing(void);

/**
 * Starts to filter the input of fd, which only one thread at a time may read.
 * @param tls      filter gnutls_record_recv() rather than recv()
 * @param seconds  time limit for a head or a chunked body to arrive; when it expires, the fault is a 408
 * @param owner    returned by srv_reader_owner
 * @return NULL if memory runs out, or fd is beyond the limit
 */
struct srv_reader *srv_reader_open(int fd, bool tls, long long seconds, void *owner);
/* @return NULL if fd has no reader, or the reader has no owner */
void *srv_reader_owner(int fd);
/* Stops filtering. Call it before fd is closed. */
void srv_reader_close(struct srv_reader *reader);

/* As srv_wire_fault. */
enum api_code srv_reader_fault(const struct srv_reader *reader, size_t message, const char **detail);
/* As srv_wire_replaced. */
bool srv_reader_replaced(const struct srv_reader *reader, size_t message);
/* Whether part of a head has arrived and is still held back from the library. */
bool srv_reader_holds_head(const struct srv_reader *reader);
/* Whether the message under way has exceeded its time limit, even within a body of announced length, where the reader
 * reports no fault. */
bool srv_reader_is_late(const struct srv_reader *reader);
/* Whether the client has closed its sending side. */
bool srv_reader_ended(const struct srv_reader *reader);
/**
 * The library closes a connection when it reads the end of the stream, although a complete request still awaits its
 * response. While a request is computed the end is therefore withheld: reads return no data. Call it on the thread that
 * reads.
 */
void srv_reader_keep_end(struct srv_reader *reader, bool keep);

#endif
