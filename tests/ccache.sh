# shellcheck shell=bash
# Sourced by suites that compile the project in a system of their own. If CCACHE_DIR names a cache, as in .ci/run, the
# compiler there uses it: an object is taken from it only if the compiler, the flags and every header are the same.

# Puts compilers into FOLDER that use the cache mounted at MOUNTED. Mount FOLDER on /usr/local/bin, which precedes
# /usr/bin in PATH. Fails if there is no cache.
caching_compilers() { # FOLDER MOUNTED
	local name library
	[ -d "${CCACHE_DIR:-}" ] && library=$(ldd /usr/bin/ccache | awk '/libhiredis/ {print $3}') || return 1
	mkdir -p "$1/ccache" && cp /usr/bin/ccache "$1/ccache/" && { [ -z "$library" ] || cp -L "$library" "$1/ccache/"; } || return 1
	for name in cc gcc c++ g++; do
		cat >"$1/$name" <<-END
		#!/bin/sh
		export CCACHE_DIR=$2 CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content CCACHE_SLOPPINESS=locale CCACHE_UMASK=022
		[ -w $2 ] || export CCACHE_READONLY=1 CCACHE_TEMPDIR=/tmp # another user's
		export LD_LIBRARY_PATH=/usr/local/bin/ccache
		exec /usr/local/bin/ccache/ccache /usr/bin/$name "\$@"
		END
		chmod 755 "$1/$name"
	done
}
