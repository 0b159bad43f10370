#!/usr/bin/env bash
# scripts/npm_packages with a fake npm: suites that run at once may ask for the same packages.
# shellcheck disable=SC2317  # functions are called through check
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
mkdir "$work/bin" "$work/wanted"
echo '{}' >"$work/wanted/package.json"
echo '{}' >"$work/wanted/package-lock.json"

# As npm ci does, the fake first removes existing packages and finishes some time later.
cat >"$work/bin/npm" <<'END'
#!/bin/bash
tools=$3
echo run >>"$PLAYED/runs"
rm -rf "$tools/node_modules"
sleep 0.3
mkdir "$tools/node_modules"
END
chmod +x "$work/bin/npm"
export PLAYED=$work PATH=$work/bin:$PATH

complete() {
	scripts/npm_packages "$work/wanted" "$work/tools" && [ -d "$work/tools/node_modules" ]
}

six_at_once() {
	local n pids=() failed=0
	for n in 1 2 3 4 5 6; do complete & pids+=($!); done
	for n in "${pids[@]}"; do wait "$n" || failed=1; done
	[ "$failed" = 0 ]
}

runs() { # EXPECTED
	[ "$(wc -l <"$work/runs")" = "$1" ] || { cat "$work/runs"; false; }
}

check "all of six at once find the packages complete" six_at_once
check "one of them has installed them" runs 1
echo '{"changed": 1}' >"$work/wanted/package-lock.json"
check "another lock file installs again" complete
check "that was the second time" runs 2
finish
