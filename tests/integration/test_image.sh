#!/bin/bash
# make image: a release is built only on a base that is named by its digest. The builder is a fake.
# shellcheck disable=SC2317,SC2016,SC2015  # functions are called by check; single quotes are meant; so is A && B || C
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
digest=sha256:$(printf '%064d' 7)
version=$(scripts/version)

for builder in docker podman buildah; do
	printf '#!/bin/sh\necho "$0" "$@" >>"%s/called"\n' "$work" >"$work/$builder"
	chmod +x "$work/$builder"
done

image() { # ARGUMENT OF MAKE...
	: >"$work/called"
	env -u MAKEFLAGS -u BASE PATH="$work:$PATH" make --no-print-directory image "$@" >"$work/printed" 2>&1
}

refuses() { # TEXT ARGUMENT OF MAKE...
	! image "${@:2}" && [ ! -s "$work/called" ] && grep -qF -- "$1" "$work/printed" && return
	cat "$work/printed" "$work/called"
	return 1
}

builds() { # WORDS OF THE COMMAND ARGUMENT OF MAKE...
	image "${@:2}" && cat "$work/called" && grep -qxF -- "$work/$1" "$work/called"
}

end="--build-arg BASE=debian:bookworm-slim@$digest --build-arg VERSION=$version"
check "a missing base is refused" refuses "BASE is missing"
check "a tag alone is refused" refuses "'debian:bookworm-slim' has no digest" BASE=debian:bookworm-slim
check "half a digest is refused" refuses "is not a digest" BASE=debian:bookworm-slim@sha256:abc
check "another hash is refused" refuses "is not a digest" BASE="debian@md5:${digest#sha256:}"
check "an unknown builder is refused" refuses "'make' is not docker" BASE="debian@$digest" BUILDER=make
check "docker builds on the digest" builds "docker build $end -t frictiond:$version -f Dockerfile ." \
	BASE="debian:bookworm-slim@$digest"
check "podman keeps the health check" builds "podman build --format docker $end -t a/frictiond:1 -f Dockerfile ." \
	BASE="debian:bookworm-slim@$digest" TAG=a/frictiond:1 BUILDER=podman
check "buildah takes options" builds "buildah --root x bud --format docker $end -t frictiond:$version -f Dockerfile ." \
	BASE="debian:bookworm-slim@$digest" BUILDER="buildah --root x"
check "all stages of the Dockerfile use that base" \
	[ "$(grep -E '^(FROM|ARG BASE=)' Dockerfile | sed 's/ AS .*//' | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
	' 1 ARG BASE=debian:bookworm-slim; 2 FROM ${BASE};' ]
check "the final image has no curl" sh -c '! grep -n curl Dockerfile'
finish
