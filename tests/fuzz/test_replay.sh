#!/usr/bin/env bash
# Runs every harness of tests/fuzz on its first inputs and all earlier findings, without libFuzzer. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
harnesses=(lift frame handle json_frame_equivalence patch sets numbers query)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "1..$((${#harnesses[@]} + 1))"
n=0 status=0
report() { # name, exit status
	n=$((n + 1))
	if "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1" && status=1; fi
}

replay() {
	local folders=("$work/seeds/$1") tool="build/${MODE:-release}/tests/fuzz/$1"
	[ -d "tests/fuzz/findings/$1" ] && folders+=("tests/fuzz/findings/$1")
	if "$tool" "${folders[@]}" >"$work/log" 2>&1; then report "$1: $(cat "$work/log")" true; else
		report "$1" false
		sed 's/^/# /' "$work/log"
		mkdir -p build/fuzzing/replay && cp -r "$work/seeds" build/fuzzing/replay  # kept for inspection
	fi
}

if tests/fuzz/seeds "$work/seeds"; then report "first inputs from the cases" true; else report "first inputs" false; fi
for harness in "${harnesses[@]}"; do replay "$harness"; done
exit $status
