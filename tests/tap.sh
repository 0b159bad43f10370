# shellcheck shell=bash
# Sourced by suites that are shell scripts: TAP on standard output.
# $work is a folder of the suite's own, which is removed at the end. When a check fails, its output is printed, and then
# the contents of the files in $shown.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shown=("$work/printed")
n_checks=0 n_failed=0

check() { # NAME COMMAND...
	n_checks=$((n_checks + 1))
	if "${@:2}" >"$work/output" 2>&1; then
		echo "ok $n_checks - $1"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_checks - $1"
		cat "$work/output" "${shown[@]}" 2>/dev/null | tail -n 100 | sed 's/^/# /'
	fi
}

finish() {
	echo "1..$n_checks"
	exit $((n_failed > 0))
}
