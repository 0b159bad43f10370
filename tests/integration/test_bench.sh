#!/usr/bin/env bash
# The programs of `make bench` run and print lines that tests/bench/run can read. Speed is not tested.
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

every_variant() { # our own measurements exist for 1 and 2 threads, and at least for the scalar kernels
	jq -es '[.[] | select(.what == "csr")] | length >= 4 and
		(map([.kernels, .threads]) | index([["scalar", 1]]) != null and index([["scalar", 2]]) != null)' <"$out"
}

names_the_law() { # TRANSITION OWN_MU
	jq -es --arg transition "$1" --argjson own_mu "$2" 'length > 0 and all(.[]; .transition == $transition and .own_mu == $own_mu)' <"$out"
}

refuses() { # program, arguments
	! "$@" >"$out" 2>&1 && grep -q "^usage: " "$out"
}

explains_itself() {
	"$programs/bench" --help >"$out" && grep -q -- "--transition NAME *.*cubic.*quadratic.*peak" "$out" && grep -q -- --own-mu "$out"
}

once_each() {
	[ "$(wc -l <"$out")" -eq 5 ]
}

one_contact() { # the line of a single contact is taken out
	jq -es 'any(.[]; .what == "local_one_contact" and .n == 1 and .ns_per_call > 0)' <"$out" &&
		jq -c 'select(.n > 1)' <"$out" >"$out.others" && mv "$out.others" "$out"
}

refuses_zero() {
	! "$programs/codec" 0
}

check "the core's benchmark runs" runs "$programs/bench" 1000
check "it reports every measurement" reports ns_per_contact 1000 yardstick_gradient yardstick_triplets \
	floor_read_contacts floor_write_triplets floor_stream_triplets prepare prepare_barrier potential potential_gradient factors triplets csr csr_values
check "for every variant of the kernels, with 1 and 2 threads" every_variant
check "it runs with another law, and coefficients per contact" runs "$programs/bench" --transition peak --own-mu 1000
check "and says so in every line" names_the_law peak true
check "it uses cubic and the same coefficients for all contacts otherwise" runs "$programs/bench" 200
check "and says so in every line" names_the_law cubic false
check "it refuses a law that does not exist" refuses "$programs/bench" --transition cube 1000
check "a law without a name" refuses "$programs/bench" --transition
check "an option that does not exist" refuses "$programs/bench" --transitions peak
check "a size that is no number" refuses "$programs/bench" peak
check "it explains itself" explains_itself
check "the codec's benchmark runs, its numbers have jansson's bits" runs "$programs/codec" 2000
check "it reports every measurement" reports ns_per_number 2000 jansson_decode jansson_encode json_decode json_encode frame_decode
check "each of them is there once" once_each
check "it refuses to measure nothing" refuses_zero
check "the benchmark of libfrictiond.so runs, copies nothing" runs "$programs/local" 2000
check "it reports what a call with one contact takes" one_contact
check "and every other measurement" reports ns_per_contact 2000 core_gradient local_set_gradient core_prepare_gradient local_evaluate_gradient
check "the benchmark of finding contacts runs" runs "$programs/find" 2000
check "the script that runs them explains itself" tests/bench/run --help
check "the benchmark of sets runs, on small ones" tests/bench/sets --mesh pile --contacts 500 --rounds 1 --output "$work/sets.json" "${FRICTIOND:-build/frictiond}"
check "what it measured can be drawn" tests/bench/draw_sets "$work/sets.json" "$work/sets.svg"
finish
