#!/usr/bin/env bash
# The programs of `make bench` run and print what tests/bench/run reads. Speed is not tested.
set -u
cd "$(dirname "$0")/../.." || exit 1
programs=build/${MODE:-release}/tests/bench
. tests/tap.sh
out=$work/printed

runs() { # program, arguments; the output goes to $out
	"$@" >"$out"
}

# Every line is an object; for each of the words, a line has a positive number under KEY.
reports() { # KEY N WORD...
	jq -es --arg key "$1" --argjson n "$2" '. as $lines | all(.[]; .n == $n and (.[$key] | type == "number" and . >= 0)) and
		all($ARGS.positional[]; . as $what | any($lines[]; .what == $what and .[$key] > 0))' --args "${@:3}" <"$out"
}

every_variant() { # our own measurements are there for 1 and 2 threads, and at least for the scalar kernels
	jq -es '[.[] | select(.what == "csr")] | length >= 4 and
		(map([.kernels, .threads]) | index([["scalar", 1]]) != null and index([["scalar", 2]]) != null)' <"$out"
}

once_each() {
	[ "$(wc -l <"$out")" -eq 5 ]
}

refuses_zero() {
	! "$programs/codec" 0
}

check "the core's benchmark runs" runs "$programs/bench" 1000
check "it reports every measurement" reports ns_per_contact 1000 yardstick_gradient yardstick_triplets \
	floor_read_contacts floor_write_triplets floor_stream_triplets prepare prepare_barrier potential potential_gradient factors triplets csr csr_values
check "for every variant of the kernels, with 1 and 2 threads" every_variant
check "the codec's benchmark runs, its numbers have jansson's bits" runs "$programs/codec" 2000
check "it reports every measurement" reports ns_per_number 2000 jansson_decode jansson_encode json_decode json_encode frame_decode
check "each of them is there once" once_each
check "it refuses to measure nothing" refuses_zero
check "the script that runs them explains itself" tests/bench/run --help
finish
