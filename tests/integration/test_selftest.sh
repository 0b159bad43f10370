#!/bin/bash
# Only the linker puts the filter in front of the HTTP library: a program that was linked without it refuses to serve.
# The variants are built with the tests (UNSOUND in the Makefile).
# shellcheck disable=SC2034  # FRICTIOND is for start_server
. "$(dirname "$0")/lib.sh"
unsound=$ROOT/build/${MODE:-release}/tests/unsound

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=frictiond \
	-keyout "$WORK/key" -out "$WORK/certificate" 2>/dev/null
tls=(--tls-cert "$WORK/certificate" --tls-key "$WORK/key")

# refuses VARIANT WHY [OPTION]...: exit code 1, a sentence with the reason, and no line that it listens.
refuses() {
	local status
	"$unsound/$1" --port 0 "${@:3}" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null &
	SERVER_PID=$!
	until_true over && [ ! -s "$WORK/stdout" ] || kill -KILL "$SERVER_PID"
	wait "$SERVER_PID"
	status=$?
	SERVER_PID=
	cat "$WORK/stderr" >&2
	[ $status = 1 ] && [ ! -s "$WORK/stdout" ] && [ "$(grep -c level=error "$WORK/stderr")" = 1 ] &&
		grep -q "the filter in front of the HTTP library is not in its place ($2)" "$WORK/stderr"
}

over() {
	[ -s "$WORK/stdout" ] || ! kill -0 "$SERVER_PID"
}

# The filter refuses two lengths; the library would accept one of them.
filters() {
	raw 'POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab' |
		head -1 | grep -q '^HTTP/1.1 400 '
}

for name in recv gnutls_record_recv gnutls_record_check_pending gnutls_deinit epoll_wait; do
	ok "refuses if $name is found elsewhere" refuses "without_$name" "$name"
done
ok "refuses if the library reads with another function" refuses beside_recv "a request passed it by"
ok "refuses if it does so under TLS" \
	refuses beside_gnutls_record_recv "a request sent through TLS passed it by" "${tls[@]}"

FRICTIOND=$unsound/static
start_server
ok "filters if linked with the library's objects" filters
stop_server
is "and exits as usual" "$STATUS" 0

FRICTIOND=$unsound/beside_gnutls_record_recv
start_server
ok "a fault that matters only under TLS is ignored without it" filters
stop_server
finish
