#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests an answer as a frame (docs/frame.md) and reads it with shell tools.
#
# usage: frame.sh [URL]     URL of the service, default http://127.0.0.1:8080; http+unix:///PATH: a Unix-domain socket
# Needs bash, curl and jq (Debian: curl jq). To post a frame, write one with a program, such as encode_frame of
# the Python package, and use --data-binary @batch.frame -H 'Content-Type: application/vnd.frictiond.frame'.
set -euo pipefail
url=${1:-http://127.0.0.1:8080}
base=$url
near=()
case $url in http+unix://*) near=(--unix-socket "${url#http+unix://}") base=http://localhost ;; esac
scene=$(dirname "$0")/../scene/scene.json
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

status=0
curl -sS "${near[@]}" --fail-with-body --retry 5 --max-time 300 -o "$answer" "$base/v1/evaluate" \
	-H 'Content-Type: application/json' -H 'Accept: application/vnd.frictiond.frame' --data-binary "@$scene" ||
	status=$?
if [ "$status" != 0 ]; then
	[ "$status" != 7 ] || echo "$url: is it running?" >&2
	jq -r '.detail, (.errors[]? | "\(.pointer): \(.detail)")' "$answer" >&2 || true
	exit 1
fi

# 8 bytes with the length of the document, the document, then the tail with the numbers.
length=$(od -A n -t u8 -N 8 "$answer" | tr -d ' ')
document=$(tail -c +9 "$answer" | head -c "$length" || true)
jq -c '{n_collisions, potential, gradient}' <<< "$document"
offset=$(jq .gradient.offset <<< "$document")
echo "gradient of the first two vertices:"
od -A n -t f8 -w24 -j $((8 + length + offset)) -N 48 "$answer"
