# shellcheck shell=bash
# Sourced by tests/integration/test_*.sh: a server under test, and TAP on standard output.
# FRICTIOND names the program (default build/frictiond).

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
FRICTIOND=${FRICTIOND:-$ROOT/build/frictiond}
case $FRICTIOND in /*) ;; *) FRICTIOND=$ROOT/$FRICTIOND ;; esac
WORK=$(mktemp -d)
SERVER_PID=
N_TESTS=0
N_FAILED=0
# shellcheck disable=SC2034  # used by the tests
CONTACT='{"dim":2,"velocities":[[0,0]],"friction":{"mu":0.3,"eps_v":0.1},"collisions":{"plane_vertex":{"vertices":[0],"normal_force":1,"plane_normal":[0,1]}}}'

if [ ! -x "$FRICTIOND" ]; then
	echo "1..0 # SKIP $FRICTIOND does not exist"
	rm -rf "$WORK"
	exit 1
fi

clean_up() {
	if [ -n "$SERVER_PID" ]; then
		kill -KILL "$SERVER_PID" 2>/dev/null
		wait "$SERVER_PID" 2>/dev/null
	fi
	rm -rf "$WORK"
}
trap clean_up EXIT

# start_server [OPTION]...: on a free port; sets SERVER_PID, READY (its line), BASE and PORT. The log is $WORK/log.
# The line comes through a FIFO, so waiting ends when the line comes or the server exits.
start_server() {
	rm -f "$WORK/stdout"
	mkfifo "$WORK/stdout"
	"$FRICTIOND" --port 0 "$@" >"$WORK/stdout" 2>"$WORK/log" &
	SERVER_PID=$!
	exec 9<"$WORK/stdout"
	READY=
	read -r READY <&9
	BASE=${READY#frictiond listening on }
	PORT=${BASE##*:}
	if [ -z "$PORT" ]; then
		echo "# the server did not start: $(cat "$WORK/log")"
		exit 1
	fi
}

# stop_server: SIGTERM; sets STATUS to the exit code and REST to its output after the first line.
stop_server() {
	kill -TERM "$SERVER_PID"
	await_server
}

# shellcheck disable=SC2034  # STATUS and REST are for the tests
await_server() {
	wait "$SERVER_PID"
	STATUS=$?
	SERVER_PID=
	REST=$(cat <&9)
	exec 9<&-
}

# ok NAME COMMAND...: passes if the command succeeds.
ok() {
	local name=$1
	shift
	N_TESTS=$((N_TESTS + 1))
	if "$@"; then
		echo "ok $N_TESTS - $name"
	else
		N_FAILED=$((N_FAILED + 1))
		echo "not ok $N_TESTS - $name"
		echo "# failed: $*" | head -c 2000
		echo
	fi
}

# is NAME GOT EXPECTED
is() {
	ok "$1" [ "$2" = "$3" ]
}

# like NAME GOT EXTENDED_REGEX: some line matches.
like() {
	ok "$1" grep -Eqi -- "$3" <<<"$2"
}

absent() {
	! grep -Eqi -- "$2" <<<"$1"
}

# unlike NAME GOT EXTENDED_REGEX: no line matches.
unlike() {
	ok "$1" absent "$2" "$3"
}

# until_true COMMAND...: repeats the command until it succeeds; gives up after a minute, when something is broken.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "# never came true: $*"
	return 1
}

# http_code [CURL ARGUMENT]...: prints only the status.
http_code() {
	curl -s -o /dev/null -w '%{http_code}' "$@"
}

# raw BYTES (as for printf %b): sends them on a new connection and prints everything received until the server closes
# it.
raw() {
	exec 8<>"/dev/tcp/127.0.0.1/$PORT"
	printf '%b' "$1" >&8
	cat <&8
	exec 8>&-
}

finish() {
	echo "1..$N_TESTS"
	[ "$N_FAILED" -eq 0 ]
	exit
}
