#!/bin/bash
# scripts/coverage in a separate tree with one file: what it finds, and what docs/coverage.md has to list.
# shellcheck disable=SC2317  # functions are called by check
cd "$(dirname "$0")/../.." || exit 1
if ! command -v gcov >/dev/null; then
	echo "ok 1 - scripts/coverage # SKIP gcov is not installed"
	echo 1..1
	exit
fi
. tests/tap.sh

mkdir -p "$work"/{scripts,docs,api/codec,server,build/coverage/api/codec}
cp scripts/coverage "$work/scripts"
cat >"$work/api/codec/lift.c" <<'END'
#include <stdlib.h>

static int odd(int x)
{
	if (!x || x == 7)
		abort();
	return x % 2;
}

int main(int n, char **words)
{
	(void)words;
	return odd(n);
}
END
: >"$work/server/check.c"
: >"$work/api/other.c"
(cd "$work" && gcc -O0 --coverage -c api/codec/lift.c -o build/coverage/api/codec/lift.c.o &&
	gcc --coverage build/coverage/api/codec/lift.c.o -o build/toy) || exit 1

report() { # STATUS, LINE OF docs/coverage.md...
	printf '%s\n' "${@:2}" >"$work/docs/coverage.md"
	"$work/scripts/coverage" --report >"$work/printed" 2>&1
	[ $? = "$1" ]
}

has() { # LINE
	grep -qxF -- "$1" "$work/printed"
}

row() { # FUNCTION COUNT LINE
	echo "| \`lift.c\` | \`$1\` | $2 | \`\` $3 \`\` | a reason |"
}

none=$(row odd 2 "if (!x \\|\\| x == 7)")

check "files are found by name, in any folder" [ "$("$work/scripts/coverage" --files)" = api/codec/lift.c ]
check "without a run there are no figures" report 1
check "and it says so" grep -q "no suite ran api/codec/lift.c" "$work/printed"
"$work/build/toy"
check "a branch that no test takes is a fault" report 1
check "each line is named, with its function" has "! lift.c:5: 2 in odd: if (!x || x == 7)"
check "the figures are there" grep -qE "^api/codec/lift.c +5 of +6 +83.3 % " "$work/printed"
check "a listed branch is not" report 0 "$none"
check "it is one with another count" report 1 "${none/ 2 / 1 }"
check "a range of counts will do" report 0 "${none/ 2 / 1-3 }"
check "a listed branch that is gone is a fault" report 1 "$none" "$(row odd 1 gone)"
check "and named" has "! lift.c: listed, but taken or gone: odd: gone"
check "unless it depends on chance" report 0 "$none" "$(row odd 0-1 gone)"
finish
