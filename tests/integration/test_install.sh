#!/usr/bin/env bash
# `make install` into a prefix, and programs that find libraries and headers there with pkg-config and CMake: the steps of
# README.md, docs/library.md and docs/local.md.
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

abi_of() { # LIBRARY HEADER
	sed -n "s/^#define $1_ABI \([0-9]*\).*/\1/p" "$2"
}

# The name for compilers, the name that programs load, and the file with the version.
links() { # NAME LIBRARY HEADER PROGRAM
	local abi version library=lib$1.so
	abi=$(abi_of "$2" "$3")
	version=$("$prefix/bin/frictiond" --version | sed 's/.* //')
	[ "$(readlink "$prefix/lib/$library")" = "$library.$abi" ] &&
		[ "$(readlink "$prefix/lib/$library.$abi")" = "$library.$abi.$version" ] &&
		[ -f "$prefix/lib/$library.$abi.$version" ] &&
		readelf --dynamic "$prefix/$4" | grep -F "NEEDED" | grep -F "[$library.$abi]"
}

compile_local() {
	# shellcheck disable=SC2046 # pkg-config's words are meant to be split
	cc -Wall -Werror "${sanitizers[@]}" examples/c/local.c -o "$prefix/local" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs frictiond)
}

# One library of each kind in one process, and the C++ compiler.
both() {
	printf '#include <fric.h>\n#include <frictiond.h>\n#include <cstdio>\nint main() { frictiond *service; %s }\n' \
		'if (frictiond_create(nullptr, &service)) return 1; frictiond_destroy(service); std::puts(fric_kernels_name(fric_kernels_best()));' \
		>"$prefix/both.cpp"
	# shellcheck disable=SC2046
	c++ -std=c++11 -Wall -Werror "${sanitizers[@]}" "$prefix/both.cpp" -o "$prefix/both" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs fric frictiond) &&
		LD_LIBRARY_PATH=$prefix/lib "$prefix/both"
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
as_written() { # PAGE LINE-OF-ITS-OUTPUT
	local block
	block=$(sed -n '/^<!-- run by tests.integration.test_install.sh -->$/,/^```$/p' "$1" | sed '1,2d; $d')
	[ -n "$block" ] || return 1
	HOME=$prefix/home SANITIZERS=${sanitizers[*]} bash -euc "cc() { command cc \$SANITIZERS \"\$@\"; }; $block" >"$prefix/out" &&
		grep -qx "$2" "$prefix/out" && [ -e "$prefix/home/fric/lib/libfric.a" ] && [ ! -e a.out ] && [ ! -e sliding_block ]
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

# A project in tests/integration/cmake, with the installation in another place than the one it was made for.
cmake_project() { # PROJECT
	cmake -S "tests/integration/cmake/$1" -B "$prefix/moved/build/$1" -DCMAKE_PREFIX_PATH="$prefix/moved/new" \
		-DEXAMPLES="$PWD/examples/c" -DVERSION="$(scripts/version)" \
		-DCMAKE_C_FLAGS="${sanitizers[*]}" -DCMAKE_CXX_FLAGS="${sanitizers[*]}" -DCMAKE_BUILD_TYPE=Release &&
		cmake --build "$prefix/moved/build/$1" --verbose
}

# Installed with DESTDIR and in a library folder of three parts, moved, and then found through a link.
moved() {
	make --no-print-directory install MODE="${MODE:-release}" DESTDIR="$prefix/moved" PREFIX=/old LIBDIR=lib/some/where &&
		mv "$prefix/moved/old" "$prefix/moved/real" && ln -s real "$prefix/moved/new" &&
		! grep -rF -e /old -e "$prefix" "$prefix/moved/real/lib/some/where/cmake" &&
		mkdir "$prefix/moved/real/lib/cmake" && ln -s ../some/where/cmake/fric ../some/where/cmake/frictiond "$prefix/moved/real/lib/cmake/"
}

# Without LD_LIBRARY_PATH: CMake writes the folder into programs that it builds.
cmake_links() { # PROGRAM [LIBRARY]: the shared library of this project that it loads, from where it was moved to
	local program=$prefix/moved/build/$1 loaded
	loaded=$(ldd "$program" | grep -o "[^ ]*/libfric[a-z]*\.so\.[0-9]*" | sort) && echo "$loaded"
	[ "$loaded" = "${2:+$prefix/moved/real/lib/some/where/lib$2}" ]
}

cmake_prints() { # PROGRAM LINE
	"$prefix/moved/build/$1" >"$prefix/out" && cat "$prefix/out" && grep -qx "$2" "$prefix/out"
}

# A file of an installation is lost.
cmake_names_what_is_missing() {
	mv "$prefix/moved/real/lib/some/where/libfric.a" "$prefix/moved/kept" || return 1
	! cmake -S tests/integration/cmake/cpp -B "$prefix/moved/build/broken" -DCMAKE_PREFIX_PATH="$prefix/moved/new" 2>"$prefix/out" &&
		tr -s '\n ' ' ' <"$prefix/out" | grep -F 'libfric.a is missing: install libfric again'
	local status=$?
	mv "$prefix/moved/kept" "$prefix/moved/real/lib/some/where/libfric.a"
	return "$status"
}

check "make install" make --no-print-directory install MODE="${MODE:-release}" PREFIX="$prefix"
in_place() {
	local file
	for file in lib/libfric.a lib/libfric.so lib/libfrictiond.so lib/pkgconfig/frictiond.pc include/frictiond.h include/fric.h include/fric_mollifier.h \
		lib/pkgconfig/fric.pc share/man/man1/frictiond.1 lib/cmake/{fric/fric,frictiond/frictiond}Config{,Version}.cmake \
		lib/systemd/system/frictiond.service lib/systemd/system/frictiond.socket lib/sysusers.d/frictiond.conf; do
		[ -s "$prefix/$file" ] || { echo "no $file"; return 1; }
	done
	test -x "$prefix/bin/frictiond" && grep -qx "ExecStart=$prefix/bin/frictiond" "$prefix/lib/systemd/system/frictiond.service"
}

check "program, library, headers, manual page and systemd unit are in place" in_place
check "the installed program starts" "$prefix/bin/frictiond" --version
check "the installed headers compile as C and as C++" headers
check "the example builds against the installed library" compile
check "it asks for libfric.so by the name that stands for its layout" links fric FRIC core/fric.h sliding_block
check "the example's gradient is mu_k * normal force along the velocity" answers
check "the example builds against the static library" compile_static
check "and gives the same" answers
check "the example of the service in process builds" compile_local
check "it asks for libfrictiond.so by the name that stands for its layout" links frictiond FRICTIOND api/frictiond.h local
check "a C++ program uses both libraries" both
check "the steps of README.md, as written" as_written README.md 'gradient 2.6323 1.31615 0'
check "the steps of docs/library.md, as written" as_written docs/library.md 'gradient 2.6323 1.31615 0'
check "the steps of docs/local.md, as written" as_written docs/local.md '5 ms: 0.00528 m/s, 0 bytes copied'
check "a relative PREFIX" relative
check "an installation is moved" moved
check "CMake finds it from a project in C" cmake_project c
check "fric::fric is the shared library" cmake_links c/shared "fric.so.$(abi_of FRIC core/fric.h)"
check "its program's gradient is mu_k * normal force along the velocity" cmake_prints c/shared 'gradient 2.6323 1.31615 0'
check "fric::fric_static is the static library" cmake_links c/static
check "and gives the same" cmake_prints c/static 'gradient 2.6323 1.31615 0'
check "frictiond::frictiond is the service in process" cmake_links c/local "frictiond.so.$(abi_of FRICTIOND api/frictiond.h)"
check "its program's arrays are not copied" cmake_prints c/local '5 ms: 0.00528 m/s, 0 bytes copied'
check "CMake finds it from a project in C++" cmake_project cpp
check "both shared libraries are in one program" cmake_prints cpp/fric 'f1(eps_v) = 1'
check "so are the static and the shared one" cmake_prints cpp/fric_static 'f1(eps_v) = 1'
check "CMake names a file that is missing" cmake_names_what_is_missing
check "CMake accepts the versions that docs/stability.md promises" cmake -P tests/integration/cmake/versions.cmake
finish
