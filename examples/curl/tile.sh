#!/bin/bash
# SPDX-License-Identifier: MIT
# A tile on the floor with a pin on top, with curl: posts the contacts, prints forces and Hessian.
#
# usage: tile.sh [URL]      URL of the service, default http://127.0.0.1:8080; http+unix:///PATH: a Unix-domain socket
# Needs bash and curl 7.76 or later (Debian: curl); without jq (Debian: jq) the answer is printed as it is.
set -euo pipefail
url=${1:-http://127.0.0.1:8080}
base=$url
near=()
case $url in http+unix://*) near=(--unix-socket "${url#http+unix://}") base=http://localhost ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# --fail-with-body: curl fails on any status other than 200, but still prints the reason. --retry: tries again after
# 503, the status of a service that is busy; repeating a request is always safe.
status=0
curl -sS "${near[@]}" --fail-with-body --retry 5 --max-time 300 -o "$folder/answer" "$base/v1/evaluate" \
	-H 'Content-Type: application/json' --data-binary @- 2> "$folder/error" <<-'END' || status=$?
	{
	  "dim": 3,
	  "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],
	  "velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]],
	  "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
	  "collisions": {
	    "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
	    "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]}
	  },
	  "hessian": {"format": "csr", "projection": "clamp"}
	}
	END
if [ "$status" != 0 ]; then
	cat "$folder/error" >&2
	[ "$status" != 7 ] || echo "$url: is it running?" >&2
	# application/problem+json: "detail" describes the error, "pointer" names its place in the request.
	jq -r '.detail, (.errors[]? | "\(.pointer): \(.detail)")' "$folder/answer" >&2 2> "$folder/no-problem" ||
		cat "$folder/answer" >&2 2> "$folder/no-answer" || true
	exit 1
fi

if ! command -v jq > /dev/null; then
	cat "$folder/answer"
	echo
	exit
fi
jq -r '
	.hessian as $h
	| def entry($i; $j): first(range($h.indptr[$i]; $h.indptr[$i + 1]) | select($h.indices[.] == $j) | $h.data[.]) // 0;
	["contacts", .n_collisions, .potential],
	(range(.n_vertices) as $i | ["force", $i, (.gradient[3 * $i:3 * $i + 3][] | 0 - .)]),
	["hessian", $h.shape[], ($h.data | length),
	 ([range($h.shape[0]) as $i | range($h.shape[1]) as $j | entry($i; $j) - entry($j; $i) | fabs] | max)],
	["entry", entry(4; 4)]
	| @tsv' "$folder/answer" |
	awk '
	$1 == "contacts" { printf "%d contacts, potential %.6f N m/s\n", $2, $3 }
	$1 == "force"    { printf "friction on vertex %d %9.5f %9.5f %9.5f N\n", $2, $3, $4, $5 }
	$1 == "hessian"  { printf "Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", $2, $3, $4, $5 }
	$1 == "entry"    { printf "H[4, 4] = %.4f N s/m\n", $2 }'
