#!/bin/bash
# .ci/run in its own folder, with a fake make and scripts/packages: its counts and output, and that it stops in time.
# shellcheck disable=SC2317,SC2154  # functions are called by check; tests/tap.sh sets work
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
export PLAYED=$work
mkdir -p "$work/.ci" "$work/scripts" "$work/bin"
cp .ci/run "$work/.ci/run"

cat >"$work/scripts/packages" <<'END'
#!/bin/bash
echo "$*" >>"$PLAYED/asked"
[ ! -e "$PLAYED/no-packages" ]
END
# Each target has one passing test, unless $PLAYED/TARGET does something else.
cat >"$work/bin/make" <<'END'
#!/bin/bash
target=$2
echo "$target" >>"$PLAYED/made"
if [ -e "$PLAYED/$target" ]; then . "$PLAYED/$target"; exit; fi
printf 'ok 1 - it\n1..1\n1 passed, 0 failed, 2 skipped\n'
END
chmod +x "$work/scripts/packages" "$work/bin/make"

gate() { # EXPECTED STATUS, VARIABLE=VALUE...
	rm -rf "$work/build" "$work/asked" "$work/made"
	env PATH="$work/bin:$PATH" "${@:2}" "$work/.ci/run" >"$work/printed" 2>&1
	local status=$?
	[ "$status" = "$1" ] || { echo "status $status"; false; }
}

last() { # LINE
	[ "$(tail -n 1 "$work/printed")" = "$1" ]
}

row() { # TARGET PASSED FAILED SKIPPED
	grep -qE "^$1 +[0-9]+ +[0-9]+ +$2 +$3 +$4\$" "$work/printed"
}

has() { # TEXT
	grep -qF -- "$1" "$work/printed"
}

targets=$(sed -nE 's/^\t?(suite|tap|command_alone) ([a-z-]+).*/\2/p' .ci/run)

all_rows() {
	local target
	[ "$(wc -w <<<"$targets")" -gt 9 ] || return 1
	for target in $targets; do
		grep -qE "^$target +[0-9]+ +[0-9]+ +1 +0 +[02]\$" "$work/printed" || { echo "$target"; return 1; }
	done
}

# The packages for the Makefile's targets are the ones that were installed before the lanes began, or beside them.
all_packages() {
	local target purpose
	[ "$(wc -l <"$work/asked")" = 3 ] || return 1
	for target in $targets test-packages packages; do
		for purpose in $(sed -n "/^$target:/,/^\$/s/^\t@scripts\/packages //p" Makefile); do
			grep -qwF -- "$purpose" "$work/asked" || { echo "$target: $purpose"; return 1; }
		done
	done
}

gone() {
	! kill -0 "$(cat "$work/pid")" 2>/dev/null
}

check "it succeeds if all targets do" gate 0
check "packages for all targets are installed" all_packages
check "each target has a row with its seconds, wall and CPU, and counts" all_rows
n_targets=$(wc -w <<<"$targets")
check "the last line is the sum" last "$((3 + n_targets)) passed, 0 failed, $((2 * $(grep -cP '^\t?suite ' .ci/run))) skipped"
echo 'echo "FAIL  a suite: 0 passed, 1 failed"; echo "3 passed, 1 failed"; exit 1' >"$work/asan"
check "it fails if a target fails" gate 1
check "the target's row shows the failure" row asan 3 1 0
check "which is shown again at the end" has "All failures"
rm "$work/asan"
echo 'echo "      SKIPPED [2] tests/a.py:85: no clang++"; echo "3 passed, 0 failed, 2 skipped"' >"$work/asan"
check "it fails if a tool is missing" gate 1
check "which is one failure" row asan 3 1 2
rm "$work/asan"
echo 'echo "core/a.c:3:1: warning: unused variable"; echo "1 passed, 0 failed"' | tee "$work/test" "$work/examples-test" >"$work/asan"
check "it fails if the compiler warns while it builds the tests" gate 1
check "which is one failure of the tests" row test 1 1 0
check "a warning of another target is no failure" row examples-test 1 0 0
rm "$work/asan" "$work/test" "$work/examples-test"
echo 'python3 -c "while __import__(\"time\").process_time() < 2: pass"; echo "1 passed, 0 failed, 0 skipped"' >"$work/asan"
check "a target that computes uses CPU" gate 0
check "which its row shows" grep -qE '^asan +[0-9]+ +[1-9]' "$work/printed"
check "nothing goes wrong while it is counted" sh -c "! grep -E 'awk|No such' '$work/printed'"
rm "$work/asan"
touch "$work/no-packages"
check "packages that cannot be installed are a failure" gate 1
check "and the targets run all the same" all_rows
rm "$work/no-packages"
echo 'echo $$ >"$PLAYED/pid"; trap "" INT; while :; do sleep 1; done' >"$work/asan"
check "it stops when its time is up" gate 1 GATE_SECONDS=3
check "the running target is ended" gone
check "and named" grep -qE '^FAIL  ended: the gate has taken [0-9]+ of 3 s' "$work/printed"
check "and counts as failed" row asan 0 1 0
check "as does what has not begun" row simulate 0 1 0
check "which is not begun" sh -c "! grep -qx simulate '$work/made'"
echo 'kill -KILL $(ps -o ppid= -p $PPID)' >"$work/asan"
check "a lane that dies is a failure" gate 1
check "what it did not run counts as failed" row simulate 0 1 0
check "the other lanes do all other jobs" row demo 1 0 0
check "each once" sh -c "[ \$(sort '$work/made' | uniq -d | wc -l) = 0 ]"
finish
