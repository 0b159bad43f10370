#!/usr/bin/env bash
# `make install` into a prefix, and a C program that finds library and headers there with pkg-config: the steps of
# README.md and docs/library.md.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
prefix=$work/prefix
mkdir "$prefix"

sanitizers=()
[ "${MODE:-release}" != asan ] || sanitizers=(-fsanitize=address -fsanitize=undefined)

compile() { # [OPTION OF cc AND pkg-config]
	# shellcheck disable=SC2046 # pkg-config's words are meant to be split
	cc -Wall -Werror "$@" "${sanitizers[@]}" examples/c/sliding_block.c -o "$prefix/sliding_block" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "${@/#-/--}" --cflags --libs fric)
}

# Nothing is linked statically with sanitizers, so libfric.a is named instead.
compile_static() {
	if [ "${#sanitizers[@]}" = 0 ]; then
		compile -static && ! readelf --dynamic "$prefix/sliding_block" | grep NEEDED
	else
		cc "${sanitizers[@]}" -I"$prefix/include" examples/c/sliding_block.c "$prefix/lib/libfric.a" -fopenmp -lm \
			-o "$prefix/sliding_block"
	fi
}

# The name for compilers, the name that programs load, and the file with the version.
links() {
	local abi version
	abi=$(sed -n 's/^#define FRIC_ABI \([0-9]*\).*/\1/p' core/fric.h)
	version=$("$prefix/bin/frictiond" --version | sed 's/.* //')
	[ "$(readlink "$prefix/lib/libfric.so")" = "libfric.so.$abi" ] &&
		[ "$(readlink "$prefix/lib/libfric.so.$abi")" = "libfric.so.$abi.$version" ] &&
		[ -f "$prefix/lib/libfric.so.$abi.$version" ] &&
		readelf --dynamic "$prefix/sliding_block" | grep -F "NEEDED" | grep -F "[libfric.so.$abi]"
}

# Both headers are found where they are installed, from C and from C++.
headers() {
	local language
	for language in c c++; do
		printf '#include <fric_mollifier.h>\nint main(void) { return fric_smooth_friction_f1(1, 1) != 1; }\n' |
			cc -x "$language" -Wall -Werror -fsyntax-only -I"$prefix/include" - || return 1
	done
}

# Runs the block of a page that is marked for this test, unchanged, with another folder as HOME.
as_written() { # PAGE
	local block
	block=$(sed -n '/^<!-- run by tests.integration.test_install.sh -->$/,/^```$/p' "$1" | sed '1,2d; $d')
	[ -n "$block" ] || return 1
	HOME=$prefix/home SANITIZERS=${sanitizers[*]} bash -euc "cc() { command cc \$SANITIZERS \"\$@\"; }; $block" >"$prefix/out" &&
		grep -qx 'gradient 2.6323 1.31615 0' "$prefix/out" && [ -e "$prefix/home/fric/lib/libfric.a" ] &&
		[ ! -e a.out ] && [ ! -e sliding_block ]
}

relative() { # PREFIX: names the same folder wherever the compiler is called
	local folder
	folder=$(realpath --relative-to=. "$prefix")/relative
	make --no-print-directory install MODE="${MODE:-release}" PREFIX="$folder" || return 1
	(cd / && PKG_CONFIG_PATH=$prefix/relative/lib/pkgconfig pkg-config --cflags fric) | grep -F -e "-I$prefix/relative/include"
}

answers() { # mu_k * force along the velocity (2, 1)/sqrt(5)
	LD_LIBRARY_PATH=$prefix/lib "$prefix/sliding_block" >"$prefix/out" && cat "$prefix/out" && grep -qx 'gradient 2.6323 1.31615 0' "$prefix/out"
}

check "make install" make --no-print-directory install MODE="${MODE:-release}" PREFIX="$prefix"
in_place() {
	local file
	for file in lib/libfric.a lib/libfric.so include/fric.h include/fric_mollifier.h lib/pkgconfig/fric.pc share/man/man1/frictiond.1 \
		lib/systemd/system/frictiond.service lib/systemd/system/frictiond.socket lib/sysusers.d/frictiond.conf; do
		[ -s "$prefix/$file" ] || { echo "no $file"; return 1; }
	done
	test -x "$prefix/bin/frictiond" && grep -qx "ExecStart=$prefix/bin/frictiond" "$prefix/lib/systemd/system/frictiond.service"
}

check "program, library, headers, manual page and systemd unit are in place" in_place
check "the installed program starts" "$prefix/bin/frictiond" --version
check "the installed headers compile as C and as C++" headers
check "the example builds against the installed library" compile
check "it asks for libfric.so by the name that stands for its layout" links
check "the example's gradient is mu_k * normal force along the velocity" answers
check "the example builds against the static library" compile_static
check "and gives the same" answers
check "the steps of README.md, as written" as_written README.md
check "the steps of docs/library.md, as written" as_written docs/library.md
check "a relative PREFIX" relative
finish
