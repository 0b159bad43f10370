#!/bin/bash
# SPDX-License-Identifier: MIT
# A tile on the floor with a pin on top, as a collision set: stores the contacts in the service, evaluates them twice,
# with a patch in between, and deletes the set.
#
# usage: set.sh [URL]       URL of the service, default http://127.0.0.1:8080; http+unix:///PATH: a Unix-domain socket
# Needs bash, curl 7.76 or later and jq (Debian: curl jq).
set -euo pipefail
url=${1:-http://127.0.0.1:8080}
base=$url
near=()
case $url in http+unix://*) near=(--unix-socket "${url#http+unix://}") base=http://localhost ;; esac
set_path=$base/v1/sets/tile-$$-$RANDOM$RANDOM
folder=$(mktemp -d)
version=
trap 'delete; rm -rf "$folder"' EXIT

delete() {
	[ -z "$version" ] || curl -sS "${near[@]}" --retry 5 --max-time 300 -X DELETE -o "$folder/deleted" "$set_path" \
		-H "If-Collision-Set-Version: $version" || true # the service forgets it later
}

# try METHOD PATH FILE [HEADER]: one request; the answer is in $folder/answer.
try() {
	curl -sS "${near[@]}" --fail-with-body --retry 5 --max-time 300 -X "$1" -o "$folder/answer" "$set_path$2" \
		-H 'Content-Type: application/json' ${4:+-H "$4"} --data-binary "@$3" 2> "$folder/error"
}

# Prints the reason why the last request failed, and exits.
explain() {
	cat "$folder/error" >&2
	[ "$1" != 7 ] || echo "$url: is it running?" >&2
	jq -r '.detail, (.errors[]? | "\(.pointer): \(.detail)")' "$folder/answer" >&2 2> "$folder/no-problem" ||
		cat "$folder/answer" >&2 2> "$folder/no-answer" || true
	exit 1
}

put() {
	try PUT "" "$folder/set" || explain $?
	version=$(jq -r .version "$folder/answer")
}

# Whether another PUT resolves the error: the service has forgotten the set, or somebody else has put another one.
is_lost() {
	jq -e '.code == "unknown_set" or .code == "set_changed"' "$folder/answer" > "$folder/lost" 2>&1
}

# ask METHOD PATH FILE: a request about the version of the set that we have put. If it was lost, puts it again, at most
# twice.
ask() {
	local attempt status
	for attempt in 1 2 3; do
		status=0
		try "$1" "$2" "$3" "If-Collision-Set-Version: $version" || status=$?
		[ "$status" != 0 ] || return 0
		is_lost && [ "$attempt" != 3 ] || explain "$status"
		put
	done
}

# patch FILE: JSON Merge Patch. Keeps the resulting document, to PUT it again.
patch() {
	jq --slurpfile patch "$1" '
		def merged($patch):
			if ($patch | type) != "object" then $patch
			else reduce ($patch | to_entries[]) as $new (if type == "object" then . else {} end;
				if $new.value == null then del(.[$new.key]) else .[$new.key] |= merged($new.value) end)
			end;
		merged($patch[0])' "$folder/set" > "$folder/patched"
	status=0
	try PATCH "" "$1" "If-Collision-Set-Version: $version" || status=$?
	[ "$status" = 0 ] || is_lost || explain "$status"
	mv "$folder/patched" "$folder/set"
	if [ "$status" = 0 ]; then version=$(jq -r .version "$folder/answer"); else put; fi
}

cat > "$folder/set" <<-'END'
	{
	  "dim": 3,
	  "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],
	  "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
	  "collisions": {
	    "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
	    "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]}
	  }
	}
END
cat > "$folder/query" <<-'END'
	{"velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]], "outputs": ["potential", "gradient"]}
END
cat > "$folder/patch" <<-'END'
	{"friction": {"mu_s": 0.4}, "collisions": {"plane_vertex": {"normal_force": [1, 2, 3]}}}
END

put
for step in 1 2; do
	ask POST /evaluate "$folder/query"
	jq -r '"\(.n_collisions) contacts, potential \(.potential) N m/s, gradient", (.gradient | @tsv)' "$folder/answer"
	[ "$step" = 2 ] || patch "$folder/patch"
done
