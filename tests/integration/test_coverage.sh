#!/bin/bash
# scripts/coverage in a separate tree with one file: the branches that it finds, and the rows required in docs/coverage.md.
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
#include <stdbool.h>
#include <stdlib.h>

static int odd(int x)
{
	if (!x || x == 7)
		abort();
	return x % 2;
}

static bool api_fault_at(int x)
{
	return x == 0;
}

static bool check(int x)
{
	return x < 5 ||
	       api_fault_at(x);
}

static bool check_never_refuses(int x)
{
	return x < 5 || api_fault_at(x);
}

int main(int n, char **words)
{
	(void)words;
	return odd(n) + check(n) + check(n + 5) + check_never_refuses(n) - 2;
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
more=$(row check_never_refuses 3 "return x < 5 \\|\\| api_fault_at(x);")

check "files are found by name, in any folder" [ "$("$work/scripts/coverage" --files)" = api/codec/lift.c ]
check "without a run there are no figures" report 1
check "and it says so" grep -q "no suite ran api/codec/lift.c" "$work/printed"
"$work/build/toy"
check "a branch that no test takes is a fault" report 1
check "each line is named, with its function" has "! lift.c:6: 2 in odd: if (!x || x == 7)"
check "the figures are there" grep -qE "^api/codec/lift.c +12 of +13 +92.3 % " "$work/printed"
check "a rule excuses a branch of a line of its kind" sh -c "! grep -F 'in check:' '$work/printed'"
check "and says how many" grep -q "^5 branches, and 1 that rules excuse; " "$work/printed"
check "but no further ones" has "! lift.c:24: 3 in check_never_refuses: return x < 5 || api_fault_at(x);"
check "a listed branch is none" report 0 "$none" "$more"
check "it is one with another count" report 1 "${none/ 2 / 1 }" "$more"
check "a range of counts will do" report 0 "${none/ 2 / 1-3 }" "$more"
check "a listed branch that is gone is a fault" report 1 "$none" "$more" "$(row odd 1 gone)"
check "and named" has "! lift.c: listed, but taken, excused by a rule, or gone: odd: gone"
check "unless it depends on chance" report 0 "$none" "$more" "$(row odd 0-1 gone)"
check "a listed branch that a rule excuses is a fault" report 1 "$none" "$more" "$(row check 1 "return x < 5 \\|\\|")"
finish
