/**
 * The options: X(member of struct srv_options, kind, name, argument, default, words, least, most, help); kinds and
 * columns are described by struct srv_option (table.h).
 */
#ifndef SERVER_LIST_H
#define SERVER_LIST_H

/* clang-format off */
#define SRV_OPTIONS(X) \
	X(host, SRV_TEXT, "host", "ADDRESS", "127.0.0.1", NULL, 0, 0, \
	  "address or name to listen on; IPv6 without brackets") \
	X(port, SRV_PORT, "port", "N", "8080", NULL, 0, 65535, \
	  "port to listen on; 0 takes a free one, none leaves only --unix") \
	X(unix_path, SRV_TEXT, "unix", "PATH", NULL, "none", 0, 0, \
	  "Unix-domain socket to listen on as well; its clients need no token") \
	X(unix_mode, SRV_MODE, "unix-mode", "MODE", "0600", NULL, 0, 0777, \
	  "permissions of its file, octal; whoever may write to it may connect") \
	X(threads, SRV_COUNT, "threads", "N", NULL, "available CPUs", 1, 1024, \
	  "threads of a large evaluation; if the system allows fewer, the server warns and uses those") \
	X(max_json_bytes, SRV_BYTES, "max-json-bytes", "BYTES", "256M", NULL, 1, 64 * G, \
	  "longest JSON body of a request; 413 if exceeded") \
	X(max_frame_bytes, SRV_BYTES, "max-frame-bytes", "BYTES", NULL, "1G, or queue-bytes if that is given and less", 1, \
	  64 * G, "longest binary frame of a request; 413 if exceeded") \
	X(max_answer_bytes, SRV_BYTES, "max-answer-bytes", "BYTES", "4G", NULL, 1, 1024 * G, "longest body of an answer") \
	X(max_contacts, SRV_COUNT, "max-contacts", "N", "10000000", NULL, 1, 1000000000, \
	  "contacts in a request, or close pairs of its mesh; 413 if exceeded") \
	X(max_vertices, SRV_COUNT, "max-vertices", "N", "50000000", NULL, 1, 1000000000, \
	  "vertices in a request; 413 if exceeded") \
	X(memory_bytes, SRV_BYTES, "memory-bytes", "BYTES", NULL, \
	  "3/4 of the memory of the machine or its container that is left after 88 KiB for each connection", 16 * M, \
	  1024 * G, "memory of all requests and collision sets together: bodies, documents, contacts, results, answers;" \
	  " 503 if exceeded, or 413 for one request alone") \
	X(set_bytes, SRV_BYTES, "set-bytes", "BYTES", NULL, "half of memory-bytes", 1, 1024 * G, \
	  "memory of all collision sets together, part of memory-bytes; 503 if no set can be removed, or 413 for one" \
	  " set alone") \
	X(set_bytes_per_caller, SRV_BYTES, "set-bytes-per-caller", "BYTES", NULL, "set-bytes, or half of it with tokens", \
	  1, 1024 * G, "memory of the collision sets of one token; 503 if exceeded, or 413 for one set alone") \
	X(sets, SRV_COUNT, "sets", "N", "1024", NULL, 1, 65536, \
	  "collision sets of all callers; 503 if no set can be removed") \
	X(sets_per_caller, SRV_COUNT, "sets-per-caller", "N", NULL, "sets, or half of it with tokens", 1, 65536, \
	  "collision sets of one token; 503 if none of its own can be removed") \
	X(set_idle_seconds, SRV_COUNT, "set-idle-seconds", "N", "900", NULL, 1, 86400, \
	  "how long a collision set is kept after its last use") \
	X(connections, SRV_COUNT, "connections", "N", NULL, "1024, or as many as the limit on open files allows", 1, \
	  65536, "connections open at one time; 503 if exceeded") \
	X(connections_per_address, SRV_COUNT, "connections-per-address", "N", NULL, "as many as connections", 1, 65536, \
	  "connections open at one time from one address (IPv6: one /64; --unix: one user); 429 if exceeded") \
	X(receive_seconds, SRV_COUNT, "receive-seconds", "N", "120", NULL, 1, 86400, \
	  "how long a request may take to arrive, including its body, even if data keep arriving; 408 if exceeded") \
	X(send_seconds, SRV_COUNT, "send-seconds", "N", "120", NULL, 1, 86400, \
	  "how long a client may take to receive an answer, plus a second for each MiB of it; then the connection is cut") \
	X(deadline_seconds, SRV_COUNT, "deadline-seconds", "N", "300", NULL, 1, 86400, \
	  "how long a request may take from its first byte until its answer is computed, including waiting; 503 if exceeded") \
	X(io_threads, SRV_COUNT, "io-threads", "N", NULL, "available CPUs", 1, 256, \
	  "threads that serve connections and evaluate small requests") \
	X(queue_requests, SRV_COUNT, "queue-requests", "N", "64", NULL, 1, 65536, \
	  "large requests that may wait for the evaluating threads; 503 if exceeded") \
	X(queue_bytes, SRV_BYTES, "queue-bytes", "BYTES", NULL, "4 x max-json-bytes, or max-frame-bytes if that is more", \
	  1, 1024 * G, "memory for the bodies of large requests that arrive, wait or are evaluated; 503 if exceeded") \
	X(pool_bytes, SRV_BYTES, "pool-bytes", "BYTES", NULL, "1G, or a quarter of memory-bytes if that is less", 0, \
	  1024 * G, "most memory to keep warm between large requests, in addition to memory-bytes") \
	X(idle_seconds, SRV_COUNT, "idle-seconds", "N", "5", NULL, 0, 86400, \
	  "how long memory is kept warm after its last use") \
	X(drain_seconds, SRV_COUNT, "drain-seconds", "N", "30", NULL, 0, 86400, \
	  "how long SIGTERM and SIGINT wait for requests under way") \
	X(kernels, SRV_WORD, "kernels", "NAME", "best", SRV_KERNELS, 0, 0, \
	  "inner loops of the evaluation: best (for this processor), avx512, avx2, baseline or scalar") \
	X(log_level, SRV_WORD, "log-level", "LEVEL", "info", "error, warning, info, debug", 0, 0, \
	  "error, warning, info or debug") \
	X(log_format, SRV_WORD, "log-format", "FORMAT", "logfmt", "logfmt, json", 0, 0, "logfmt or json")

/* Options of the gate. */
#define SRV_GATE_OPTIONS(X) \
	X(gate.tokens, SRV_TEXT, "tokens", "FILE", NULL, "none", 0, 0, \
	  "lines with the name and the token of each client; requests then need \"Authorization: Bearer TOKEN\"") \
	X(gate.anonymous, SRV_WORD, "anonymous", "WORD", "no", "no, yes", 0, 0, \
	  "yes: listen on addresses other than loopback even without tokens") \
	X(gate.tls_cert, SRV_TEXT, "tls-cert", "FILE", NULL, "none", 0, 0, \
	  "certificate (PEM, followed by the intermediate ones): serve https") \
	X(gate.tls_key, SRV_TEXT, "tls-key", "FILE", NULL, "none", 0, 0, "key of the certificate (PEM, not encrypted)") \
	X(gate.allow_origin, SRV_TEXT, "allow-origin", "LIST", NULL, "none", 0, 0, \
	  "origins whose web pages may use the service, separated by commas (https://a.example), or *; others: 403") \
	X(gate.allow_host, SRV_TEXT, "allow-host", "LIST", NULL, "none", 0, 0, \
	  "host names under which clients may address the service, for example through a proxy, in addition to" \
	  " those of loopback;" \
	  " separated by commas (a.example, a.example:8443); others: 421")
/* clang-format on */
#endif
