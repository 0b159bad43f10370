#!/bin/bash
# The behaviour of the server: options, connections, bodies, draining. Results are tested elsewhere.
# shellcheck disable=SC2016,SC2317  # back quotes inside single quotes are meant; functions are called through ok
. "$(dirname "$0")/lib.sh"

JSON='Content-Type: application/json'
EVALUATE=/v1/evaluate
STATUS=

# run ARGUMENT...: runs the program to its end; sets OUT, ERR and STATUS.
run() {
	OUT=$("$FRICTIOND" "$@" 2>"$WORK/err")
	STATUS=$?
	ERR=$(cat "$WORK/err")
}

# refused NAME EXPECTED_CULPRIT ARGUMENT...: exit 2, nothing on standard output, one line that names the culprit.
refused() {
	local name=$1 culprit=$2
	shift 2
	run "$@"
	is "$name: exit 2" "$STATUS" 2
	like "$name: names the culprit" "$ERR" "^frictiond: .*$culprit"
	is "$name: one line" "$(wc -l <"$WORK/err")$OUT" 1
}

status_of() {
	head -n 1 <<<"$1" | cut -d ' ' -f 2
}

header_of() {
	tr -d '\r' <<<"$1" | sed -n '/^$/q; s/^'"$2"': //Ip'
}

test_queries() {
	run --help
	is "--help: exit 0" "$STATUS" 0
	like "--help: on standard output" "$OUT" '^Usage: frictiond'
	for name in host port threads max-json-bytes max-frame-bytes max-answer-bytes connections io-threads queue-requests \
		queue-bytes pool-bytes idle-seconds drain-seconds log-level log-format tokens anonymous tls-cert tls-key \
		allow-origin unix unix-mode set-bytes set-bytes-per-caller sets sets-per-caller set-idle-seconds config; do
		like "--help: explains --$name" "$OUT" "^  --$name "
	done
	run --version
	like "--version" "$STATUS $OUT" '^0 frictiond [0-9]+\.[0-9]+\.[0-9]+$'
	like "--help: the exit codes" "$("$FRICTIOND" --help)" '^Exit codes: 0 stopped'
	run --print-options-markdown
	like "options as markdown" "$STATUS $OUT" '^\| `--port N` \| `FRICTIOND_PORT` \| 8080 '
}

test_bad_options() {
	refused "unknown option" "'--bogus'" --bogus
	refused "stray argument" "'stray'" stray
	refused "missing value" "--port" --port
	refused "not a number" "--port: 'x'" --port x
	refused "beyond the ceiling" "--port: '65536'" --port=65536
	refused "negative" "--threads: '-1'" --threads -1
	refused "zero threads" "--threads: '0'" --threads 0
	refused "unknown unit" "--max-json-bytes: '1Q'" --max-json-bytes 1Q
	refused "unknown level" "--log-level: 'loud'" --log-level loud
	refused "unknown format" "--log-format: 'xml'" --log-format xml
	refused "no such file" "/nowhere/frictiond.conf: No such file" --config /nowhere/frictiond.conf
	printf 'port = 1\nprot = 2\n' >"$WORK/bad.conf"
	refused "unknown option in a file" "bad.conf, line 2: unknown option 'prot'" --config "$WORK/bad.conf"
	FRICTIOND_CONFIG=$WORK/bad.conf refused "the same by the environment" "bad.conf, line 2: unknown option 'prot'" \
		--print-config
	refused "queue shorter than a body" "--queue-bytes" --queue-bytes 1K
	refused "sets beyond the memory" "--set-bytes: 33554432 is more than --memory-bytes, 16777216" --memory-bytes 16M \
		--set-bytes 32M
	refused "a caller beyond all sets" "--set-bytes-per-caller: 2097152 is more than --set-bytes, 1048576" --set-bytes 1M \
		--set-bytes-per-caller 2M
	refused "a caller beyond the number of sets" "--sets-per-caller: 1025 is more than --sets, 1024" --sets-per-caller 1025
	FRICTIOND_PORT=x refused "environment" "FRICTIOND_PORT: 'x'"
	FRICTIOND_MAX_JSON_BYTES=many refused "environment, bytes" "FRICTIOND_MAX_JSON_BYTES: 'many'"
}

test_file() {
	printf '# here\nlog-format = json\nlog-level = info\nthreads = 3\n' >"$WORK/good.conf"
	FRICTIOND_CONFIG=$WORK/good.conf FRICTIOND_LOG_LEVEL=error start_server --threads 2
	is "a flag wins over the file" "$(curl -s "$BASE/v1/info" | jq .threads)" 2
	stop_server
	is "a variable wins over the file" "$(cat "$WORK/log")" ""
	start_server --config "$WORK/good.conf"
	is "options from a file" "$(curl -s "$BASE/v1/info" | jq .threads)" 3
	stop_server
	is "the log is JSON" "$(jq -r .msg "$WORK/log" | tail -n 1)" stopped
	run --config "$WORK/good.conf" --print-config
	is "--print-config: exit 0" "$STATUS" 0
	like "--print-config: the source" "$(grep -B 1 '^threads' <<<"$OUT")" '^# from: .*/good.conf, line 4$'
	printf '%s\n' "$OUT" >"$WORK/printed.conf"
	is "--print-config: is read back" \
		"$("$FRICTIOND" --config "$WORK/printed.conf" --print-config | grep -v '^#')" "$(grep -v '^#' <<<"$OUT")"
}

test_bad_addresses() {
	start_server
	run --port "$PORT"
	is "port in use: exit 1" "$STATUS" 1
	like "port in use: says so, and what to do" "$ERR" "^frictiond: .*port $PORT: .*in use.* --port .*FRICTIOND_PORT"
	run --port 0 --host 203.0.113.1
	is "address of another machine: exit 1" "$STATUS" 1
	like "address of another machine: names it" "$ERR" "^frictiond: .*203\.0\.113\.1"
	unlike "address of another machine: no other port helps" "$ERR" "FRICTIOND_PORT"
	stop_server
}

test_ready_line() {
	start_server
	like "ready line" "$READY" '^frictiond listening on http://127\.0\.0\.1:[1-9][0-9]*$'
	is "it responds at that address" "$(http_code "$BASE/healthz")" 200
	stop_server
	is "nothing under way: exit 0" "$STATUS" 0
	is "it prints one line only" "$REST" ""
	FRICTIOND_LOG_LEVEL=error FRICTIOND_HOST=localhost start_server
	like "host from the environment" "$READY" '^frictiond listening on http://localhost:'
	http_code "$BASE/healthz" >/dev/null
	stop_server
	is "log level from the environment" "$(cat "$WORK/log")" ""
	FRICTIOND_HOST=nowhere.invalid start_server --host 127.0.0.1
	like "flags win over the environment" "$READY" 'http://127\.0\.0\.1:'
	kill -INT "$SERVER_PID"
	await_server
	is "SIGINT: exit 0" "$STATUS" 0
}

# OpenMP reads these before main begins.
openmp_environment() {
	tr '\0' '\n' <"/proc/$SERVER_PID/environ" | grep -E '^(GOMP_SPINCOUNT|OMP_WAIT_POLICY)=' | sort
}

test_waiting_threads() {
	(
		unset GOMP_SPINCOUNT OMP_WAIT_POLICY
		start_server
		openmp_environment >"$WORK/openmp"
		stop_server
		GOMP_SPINCOUNT=7 start_server
		openmp_environment >>"$WORK/openmp"
		stop_server
		trap - EXIT
	)
	is "threads wait a moment, or as the caller says" "$(cat "$WORK/openmp")" \
		"$(printf 'GOMP_SPINCOUNT=2000\nOMP_WAIT_POLICY=passive\nGOMP_SPINCOUNT=7')"
}

test_ipv6() {
	[ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6 || return 0
	start_server --host ::1
	like "IPv6 in brackets" "$READY" '^frictiond listening on http://\[::1\]:[1-9][0-9]*$'
	is "it responds over IPv6" "$(http_code -g "$BASE/healthz")" 200
	stop_server
}

test_methods() {
	is "GET /readyz" "$(http_code "$BASE/readyz")" 200
	is "POST $EVALUATE" "$(http_code -H "$JSON" -d "$CONTACT" "$BASE$EVALUATE")" 200
	local head get
	head=$(curl -sI "$BASE/v1/info")
	get=$(curl -si "$BASE/v1/info")
	is "HEAD: status of GET" "$(status_of "$head")" 200
	is "HEAD: length of GET" "$(header_of "$head" Content-Length)" "$(header_of "$get" Content-Length)"
	is "HEAD: no body" "$(raw 'HEAD /v1/info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' | tr -d '\r' | sed '1,/^$/d')" ""
	is "unknown path" "$(http_code "$BASE/nowhere")" 404
	is "unknown path with a body" "$(http_code -d x "$BASE/nowhere")" 404
	is "wrong method" "$(http_code -X DELETE "$BASE/healthz")" 405
	like "wrong method: Allow" "$(curl -si -X DELETE "$BASE/healthz")" '^Allow: .*GET'
	is "absolute target" "$(status_of "$(raw 'GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')")" 200
}

id_for() {
	header_of "$(curl -si -H "X-Request-Id: $1" "$BASE/healthz")" X-Request-Id
}

# logged REGEX: a line is written a moment after its response was sent.
logged() {
	grep -Eq -- "$1" "$WORK/log"
}

test_request_ids() {
	local long
	long=$(printf 'a%.0s' {1..128})
	is "sane id comes back" "$(id_for 'Az09._-:/+=@')" 'Az09._-:/+=@'
	is "id of 128 characters comes back" "$(id_for "$long")" "$long"
	like "id of 129 characters is replaced" "$(id_for "${long}a")" '^[0-9a-f]{32}$'
	like "id with a space is replaced" "$(id_for 'a b')" '^[0-9a-f]{32}$'
	like "id with a quote is replaced" "$(id_for 'a"b')" '^[0-9a-f]{32}$'
	ok "fresh ids differ" [ "$(id_for '')" != "$(id_for '')" ]
	like "id on an error" "$(curl -si -H 'X-Request-Id: mine' "$BASE/nowhere")" '^X-Request-Id: mine'
	ok "id in the log" until_true logged 'level=info request_id="mine" method="GET" path="/nowhere" status=404 '
	http_code -H 'X-Request-Id: asked' "$BASE/healthz?secret=1" >/dev/null
	ok "a query is logged" until_true logged 'request_id="asked" method="GET" path="/healthz" '
	unlike "no query in the log" "$(cat "$WORK/log")" 'secret'
}

test_connections() {
	is "keep-alive" "$(curl -s -o /dev/null -o /dev/null -w '%{num_connects} ' "$BASE/healthz" "$BASE/healthz")" "1 0 "
	is "keep-alive after a refused body" \
		"$(curl -s -o /dev/null -o /dev/null -w '%{num_connects} ' -d x "$BASE/nowhere" "$BASE/nowhere")" "1 0 "
	local get='GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
	is "pipelining: every request is answered" \
		"$(raw "$get\r\n$get\r\n${get}Connection: close\r\n\r\n" | grep -a -o 'HTTP/1.1 200' | wc -l)" 3
	is "pipelining: in order" "$(raw "$get\r\nGET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n${get}Connection: close\r\n\r\n" |
		grep -a -o 'HTTP/1.1 ...' | cut -d ' ' -f 2 | tr '\n' ' ')" "200 404 200 "
	like "HTTP/1.0" "$(raw 'GET /healthz HTTP/1.0\r\n\r\n')" '^HTTP/1.[01] 200'
}

environment() {
	tr '\0' '\n' <"/proc/$SERVER_PID/environ"
}

test_environment() {
	start_server
	like "threads between evaluations sleep" "$(environment)" '^OMP_WAIT_POLICY=passive$'
	like "but not between steps" "$(environment)" '^GOMP_SPINCOUNT=2000$'
	like "free blocks are kept at hand" "$(environment)" '^GLIBC_TUNABLES=glibc.malloc.tcache_count=64$'
	stop_server
	GLIBC_TUNABLES=glibc.malloc.tcache_count=5 start_server
	like "the caller's choice stays" "$(environment)" '^GLIBC_TUNABLES=glibc.malloc.tcache_count=5$'
	stop_server
}

# held_by_threads: the number of connections of each serving thread, from the descriptors that its epoll watches.
held_by_threads() {
	local info tfd
	for info in "/proc/$SERVER_PID/fdinfo/"*; do
		tfd=$(sed -n 's/^tfd: *\([0-9]*\) .*/\1/p' "$info" 2>/dev/null)
		for tfd in $tfd; do
			readlink "/proc/$SERVER_PID/fd/$tfd"
		done | grep -c '^socket:'
	done | grep -v '^0$' | tr '\n' ' '
}

is_spread() {
	[ "$(held_by_threads)" = "3 3 3 3 " ]
}

# open_and_ask: a connection that stays open, with a request; sets FD.
open_and_ask() {
	exec {FD}<>"/dev/tcp/127.0.0.1/$PORT"
	printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$FD"
}

# All at once: the thread that wakes up first must not take all of them.
test_spread() {
	local fd fds=() line
	start_server --io-threads 4
	kill -STOP "$SERVER_PID"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		open_and_ask
		fds+=("$FD")
	done
	kill -CONT "$SERVER_PID"
	for fd in "${fds[@]}"; do
		read -r line <&"$fd"
	done
	ok "connections are spread evenly over the threads" until_true is_spread
	for fd in "${fds[@]}"; do
		exec {fd}>&-
	done
	stop_server
}

answers_200() {
	[ "$(http_code "$BASE/healthz")" = 200 ]
}

test_connections_per_address() {
	local first line
	start_server --connections-per-address 1
	open_and_ask
	first=$FD
	read -r line <&"$first"
	is "--connections-per-address: the next one is refused" "$(status_of "$(curl -si "$BASE/healthz")")" 429
	exec {first}>&-
	ok "--connections-per-address: then there is room again" until_true answers_200
	stop_server
}

test_connections_and_files() {
	local limit # most systems allow 1024
	for limit in "$(ulimit -Hn)" 1024 100 10; do
		limit=${limit/unlimited/65536}
		is "--connections: with $limit files" \
			"$(ulimit -n "$limit" && "$FRICTIOND" --io-threads 2 --print-config | grep '^connections = ')" \
			"connections = $((limit >= 1156 ? 1024 : limit > 176 ? limit - 132 : limit / 4))"
	done
	rm -f "$WORK/stdout"
	mkfifo "$WORK/stdout"
	(ulimit -n 100 && exec "$FRICTIOND" --port 0 --connections 37) >"$WORK/stdout" 2>"$WORK/log" &
	SERVER_PID=$!
	exec 9<"$WORK/stdout"
	read -r _ <&9
	stop_server
	like "--connections: more than there are files is told" "$(cat "$WORK/log")" 'open files is too low for 37 connections'
}

test_connection_limit() {
	local first second line
	start_server --connections 1
	open_and_ask
	first=$FD
	read -r line <&"$first"
	like "--connections: the first is answered" "$line" '^HTTP/1.1 200'
	second=$(curl -si "$BASE/healthz")
	is "--connections: the next one is refused" "$(status_of "$second")" 503
	like "--connections: it is told to try again" "$second" '^Retry-After: '
	like "--connections: it has a request id" "$second" '^X-Request-Id: '
	exec {first}>&-
	ok "--connections: then there is room again" until_true answers_200
	stop_server
}

# refused_head NAME STATUS HEADERS: the request is answered with the status, as a problem, and the connection closes.
refused_head() {
	local answer
	answer=$(raw "POST $EVALUATE HTTP/1.1\r\n$3\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	is "$1: $2" "$(status_of "$answer")" "$2"
	is "$1: problem" "$(header_of "$answer" Content-Type)" application/problem+json
	is "$1: closes" "$(header_of "$answer" Connection)" close
	is "$1: nothing behind it is answered" "$(grep -a -o 'HTTP/1.1' <<<"$answer" | wc -l)" 1
}

test_hygiene() {
	refused_head "two lengths" 400 'Host: localhost\r\nContent-Length: 2\r\nContent-Length: 2'
	refused_head "two different lengths" 400 'Host: localhost\r\nContent-Length: 2\r\nContent-Length: 3'
	refused_head "length and chunks" 400 'Host: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked'
	refused_head "another transfer encoding" 400 'Host: localhost\r\nTransfer-Encoding: gzip'
	refused_head "two transfer encodings" 400 'Host: localhost\r\nTransfer-Encoding: gzip, chunked'
	refused_head "transfer encoding twice" 400 'Host: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked'
	refused_head "two hosts" 400 'Host: localhost\r\nHost: localhost\r\nTransfer-Encoding: chunked'
	refused_head "no host" 400 'Transfer-Encoding: chunked'
	refused_head "space in a header's name" 400 'Host: localhost\r\nContent-Length : 2'
	like "space in the target" "$(raw 'GET /health z HTTP/1.1\r\nHost: localhost\r\n\r\n')" '^HTTP/1.1 400'
	is "compressed body" "$(http_code -H "$JSON" -H 'Content-Encoding: gzip' -d "$CONTACT" "$BASE$EVALUATE")" 415
	is "identity is not compressed" \
		"$(http_code -H "$JSON" -H 'Content-Encoding: identity' -d "$CONTACT" "$BASE$EVALUATE")" 200
	like "length that is no number" \
		"$(raw "POST $EVALUATE HTTP/1.1\r\nHost: localhost\r\nContent-Length: two\r\n\r\n{}")" '^HTTP/1.1 400'
	like "chunk that is no number" \
		"$(raw "POST $EVALUATE HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")" '^HTTP/1.1 400'
	is "still answers" "$(http_code "$BASE/healthz")" 200
}

# lines N: N bytes of headers, in lines of 64 bytes.
lines() {
	local i
	for ((i = 0; i < $1 / 64; i++)); do
		printf 'X-Header-%05d: abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST\\r\\n' "$i"
	done
}

test_long_heads() {
	local get='GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
	is "16 KiB of headers" "$(status_of "$(raw "$get$(lines 16384)\r\n")")" 200
	is "64 KiB of headers" "$(status_of "$(raw "$get$(lines 65536)\r\n")")" 431
}

# padded N: the request, followed by spaces to N bytes.
padded() {
	printf "%-$1s" "$CONTACT"
}

test_long_bodies() {
	start_server --max-json-bytes 4K --log-level debug
	padded 4096 >"$WORK/fits"
	padded 4097 >"$WORK/long"
	padded 4000000 >"$WORK/longer"
	local url=$BASE$EVALUATE
	is "longest body" "$(http_code -H "$JSON" --data-binary @"$WORK/fits" "$url")" 200
	is "longest body in chunks" "$(http_code -H "$JSON" -X POST -T - "$url" <"$WORK/fits")" 200
	is "one byte more" "$(http_code -H "$JSON" -H 'Expect:' --data-binary @"$WORK/long" "$url")" 413
	is "one byte more in chunks" "$(http_code -H "$JSON" -H 'Expect:' -X POST -T - "$url" <"$WORK/long")" 413
	is "far more" "$(http_code -H "$JSON" -H 'Expect:' --data-binary @"$WORK/longer" "$url")" 413
	is "far more in chunks" "$(http_code -H "$JSON" -H 'Expect:' -X POST -T - "$url" <"$WORK/longer")" 413
	like "the limit is named" "$(curl -s -H "$JSON" -H 'Expect:' -X POST -T - "$url" <"$WORK/long")" '4096'
	local answer
	answer=$(curl -si -H "$JSON" -H 'Expect: 100-continue' --data-binary @"$WORK/longer" "$url")
	is "Expect: refused without a 100" "$(status_of "$answer")" 413
	answer=$(curl -si -H "$JSON" -H 'Expect: 100-continue' --data-binary @"$WORK/fits" "$url")
	is "Expect: 100 first" "$(status_of "$answer")" 100
	answer=$(raw "POST $EVALUATE HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n")
	is "announced, never sent" "$(status_of "$answer")" 413
	is "no length" "$(status_of "$(raw "POST $EVALUATE HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")")" 411
	is "long body where it is not wanted" "$(http_code -H 'Expect:' --data-binary @"$WORK/longer" "$BASE/nowhere")" 404
	is "still answers" "$(http_code "$BASE/healthz")" 200
	stop_server
	is "exit 0" "$STATUS" 0
}

# slow_upload NAME: a POST whose body is read from descriptor 7; answer in $WORK/NAME, status in $WORK/NAME.code.
# Returns when the server has read the head, as its 100 shows.
slow_upload() {
	rm -f "$WORK/body" "$WORK/upload.trace"
	mkfifo "$WORK/body"
	curl -sv -H "$JSON" -H 'Expect: 100-continue' -X POST -T - -o "$WORK/$1" -w '%{http_code}' "$BASE$EVALUATE" \
		<"$WORK/body" >"$WORK/$1.code" 2>"$WORK/upload.trace" &
	UPLOAD_PID=$!
	exec 7>"$WORK/body"
	until_true grep -q '^< HTTP/1.1 100' "$WORK/upload.trace"
}

end_upload() {
	exec 7>&-
	wait "$UPLOAD_PID"
}

test_memory_for_bodies() {
	start_server --max-json-bytes 1M --queue-bytes 1M
	padded 700000 >"$WORK/large"
	slow_upload first
	cat "$WORK/large" >&7
	is "small requests are served meanwhile" "$(http_code -H "$JSON" -d "$CONTACT" "$BASE$EVALUATE")" 200
	refused_now() { [ "$(http_code -H "$JSON" --data-binary @"$WORK/large" "$BASE$EVALUATE")" = 503 ]; }
	ok "a second large body finds no memory: 503" until_true refused_now
	like "with Retry-After" "$(curl -si -H "$JSON" --data-binary @"$WORK/large" "$BASE$EVALUATE")" '^Retry-After: [0-9]+'
	end_upload
	is "the first is answered" "$(cat "$WORK/first.code")" 200
	is "its memory is free again" "$(http_code -H "$JSON" --data-binary @"$WORK/large" "$BASE$EVALUATE")" 200
	stop_server
	is "exit 0 after all that" "$STATUS" 0
}

# large_request N: that many plane contacts, enough for the worker to evaluate them
large_request() {
	awk -v n="$1" 'function list(text) { for (i = 0; i < n; i++) printf "%s%s", i ? "," : "", text == "" ? i : text }
	BEGIN {
		printf "{\"dim\":3,\"friction\":{\"mu\":0.3,\"eps_v\":0.1},\"velocities\":["; list("[0.25,0.5,0.125]")
		printf "],\"collisions\":{\"plane_vertex\":{\"plane_normal\":[0,1,0],\"normal_force\":["; list("1.5")
		printf "],\"vertices\":["; list(""); printf "]}}}"
	}'
}

post_large() {
	curl -s -H "$JSON" -H 'Expect:' --data-binary @"$WORK/large" "$@" "$BASE$EVALUATE"
}

resident_kb() {
	awk '/^VmRSS/ { print $2 }' "/proc/$SERVER_PID/status"
}

is_resident_again() {
	[ "$(resident_kb)" -lt $(($1 + 16384)) ]
}

# AddressSanitizer keeps freed blocks, so its memory does not shrink.
test_warm_memory() {
	local idle before after
	large_request 100000 >"$WORK/large"
	start_server --idle-seconds 3600
	is "small requests before" "$(http_code -H "$JSON" -d "$CONTACT" "$BASE$EVALUATE")" 200
	idle=$(resident_kb)
	before=$(post_large | cksum)
	after=$(post_large | cksum)
	is "the same bytes in fresh and in warm memory" "$before" "$after"
	if [ "${MODE:-release}" != asan ]; then
		ok "memory is kept warm" [ "$(resident_kb)" -gt $((idle + 16384)) ]
		stop_server
		start_server --idle-seconds 1
		idle=$(resident_kb)
		is "the same bytes where memory is given back" "$(post_large | cksum)" "$before"
		ok "and given back when idle" until_true is_resident_again "$idle"
		is "and taken again" "$(post_large | cksum)" "$before"
	fi
	stop_server
	is "exit 0 with warm memory" "$STATUS" 0
}

answers_503() {
	local i pids=() code
	for i in 1 2 3 4 5 6; do
		post_large -o "$WORK/answer.$i" -D "$WORK/head.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	code=$(grep -l '^HTTP/1.1 503' "$WORK"/head.[1-6] | head -n 1)
	[ -n "$code" ] && cp "$code" "$WORK/refused"
}

test_full_queue() {
	start_server --queue-requests 1
	large_request 20000 >"$WORK/large"
	ok "a full queue: 503" until_true answers_503
	like "a full queue: Retry-After" "$(cat "$WORK/refused")" '^Retry-After: [0-9]+'
	ok "others are answered meanwhile" grep -q '^HTTP/1.1 200' "$WORK"/head.1 "$WORK"/head.2 "$WORK"/head.3 "$WORK"/head.4 \
		"$WORK"/head.5 "$WORK"/head.6
	is "still answers" "$(post_large -o /dev/null -w '%{http_code}')" 200
	stop_server
	is "exit 0 after a full queue" "$STATUS" 0
}

small_overtakes_large() {
	post_large -o /dev/null &
	local pid=$! overtook
	sleep 0.1
	http_code -H "$JSON" -d "$CONTACT" "$BASE$EVALUATE" >"$WORK/code"
	kill -0 "$pid" 2>/dev/null
	overtook=$?
	wait "$pid"
	[ "$overtook" = 0 ] && [ "$(cat "$WORK/code")" = 200 ]
}

test_small_beside_large() {
	start_server --io-threads 1
	large_request 200000 >"$WORK/large"
	ok "a small request does not wait for a large one" until_true small_overtakes_large
	stop_server
}

is_draining() {
	[ "$(http_code "$BASE/readyz")" = 503 ]
}

test_draining() {
	start_server --drain-seconds 3600
	slow_upload slow
	is "ready before" "$(http_code "$BASE/readyz")" 200
	kill -TERM "$SERVER_PID"
	ok "/readyz turns 503" until_true is_draining
	is "HEAD /readyz too" "$(http_code -I "$BASE/readyz")" 503
	is "/healthz stays 200" "$(http_code "$BASE/healthz")" 200
	local answer
	answer=$(curl -si -H "$JSON" -d "$CONTACT" "$BASE$EVALUATE")
	is "new POST: 503" "$(status_of "$answer")" 503
	like "new POST: Retry-After" "$(header_of "$answer" Retry-After)" '^[0-9]+$'
	is "new POST: closes" "$(header_of "$answer" Connection)" close
	is "new POST: problem" "$(header_of "$answer" Content-Type)" application/problem+json
	ok "the request under way keeps the server" kill -0 "$SERVER_PID"
	printf '%s' "$CONTACT" >&7
	end_upload
	is "the request under way finishes" "$(cat "$WORK/slow.code")" 200
	await_server
	is "then exit 0" "$STATUS" 0
}

test_drain_ends() {
	start_server --drain-seconds 0
	slow_upload cut
	stop_server
	is "--drain-seconds 0 does not wait: exit 0" "$STATUS" 0
	end_upload
	is "the upload was cut" "$(cat "$WORK/cut.code")" 100
	start_server --drain-seconds 3600
	slow_upload cut
	kill -TERM "$SERVER_PID"
	until_true is_draining
	stop_server
	is "a second signal hurries: exit 0" "$STATUS" 0
	end_upload
	start_server
	exec 6<>"/dev/tcp/127.0.0.1/$PORT"
	printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&6
	read -r answer <&6
	stop_server
	is "an idle connection does not delay the end: exit 0" "${answer%$'\r'} $STATUS" "HTTP/1.1 200 OK 0"
	exec 6>&-
}

test_queries
test_bad_options
test_file
test_bad_addresses
test_ready_line
test_waiting_threads
test_ipv6
start_server
test_methods
test_request_ids
test_connections
test_hygiene
test_long_heads
stop_server
is "exit 0 at the end" "$STATUS" 0
test_environment
test_spread
test_connections_and_files
test_connection_limit
test_connections_per_address
test_long_bodies
test_memory_for_bodies
test_warm_memory
test_full_queue
test_small_beside_large
test_draining
test_drain_ends
finish
