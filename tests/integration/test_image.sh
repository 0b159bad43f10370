#!/bin/bash
# make image: a release is built only on a base that is named by its digest. The builder is a fake.
# shellcheck disable=SC2317,SC2016,SC2015  # functions are called by check; single quotes are meant; so is A && B || C
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
digest=sha256:$(printf '%064d' 7)
commit=$(printf '%040d' 9)
version=$(scripts/version)

for builder in docker podman buildah; do
	printf '#!/bin/sh\necho "$0" "$@" >>"%s/called"\n' "$work" >"$work/$builder"
	chmod +x "$work/$builder"
done

image() { # ARGUMENT OF MAKE...
	: >"$work/called"
	env -u MAKEFLAGS -u BASE -u SOURCE PATH="$work:$PATH" SOURCE_DATE_EPOCH=1767225600 REVISION="$commit" \
		make --no-print-directory image "$@" >"$work/printed" 2>&1
}

refuses() { # TEXT ARGUMENT OF MAKE...
	! image "${@:2}" && [ ! -s "$work/called" ] && grep -qF -- "$1" "$work/printed" && return
	cat "$work/printed" "$work/called"
	return 1
}

builds() { # WORDS OF THE COMMAND ARGUMENT OF MAKE...
	image "${@:2}" && cat "$work/called" && grep -qxF -- "$work/$1" "$work/called"
}

end="--build-arg BASE=debian:bookworm-slim@$digest --build-arg VERSION=$version --build-arg SOURCE_DATE_EPOCH=1767225600"
name=org.opencontainers.image
labels="--label $name.created=2026-01-01T00:00:00Z --label $name.revision=$commit"
base="--label $name.base.digest=$digest"
time="--timestamp 1767225600"

# In a checkout of its own, with the builders' options in $work/called.
inside() { # COMMAND...: runs it in $work/checkout
	(cd "$work/checkout" && env -u SOURCE_DATE_EPOCH -u REVISION -u SOURCE \
		GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null PATH="$work:$PATH" "$@")
}

checkout() {
	mkdir -p "$work/checkout/core" && cp -R scripts Dockerfile CHANGELOG.md "$work/checkout/" &&
		cp core/fric.h "$work/checkout/core/" && touch -d @1700000000 "$work/checkout/CHANGELOG.md"
}

commit() {
	inside git init -q -b main && inside git add -A && inside env GIT_COMMITTER_DATE='1767225600 +0000' \
		git -c user.name=a -c user.email=a@example.org commit -q -m 'a commit'
}

labelled() { # PATTERN...: extended regular expressions
	local pattern
	: >"$work/called"
	inside scripts/image "debian@$digest" >"$work/printed" 2>&1 || return 1
	cat "$work/called" "$work/printed"
	for pattern; do
		grep -qE -- "$pattern" "$work/called" || return 1
	done
}

not_labelled() { # NAME
	labelled . && ! grep -F -- "$name.$1=" "$work/called"
}
check "a missing base is refused" refuses "BASE is missing"
check "a tag alone is refused" refuses "'debian:bookworm-slim' has no digest" BASE=debian:bookworm-slim
check "half a digest is refused" refuses "is not a digest" BASE=debian:bookworm-slim@sha256:abc
check "another hash is refused" refuses "is not a digest" BASE="debian@md5:${digest#sha256:}"
check "an unknown builder is refused" refuses "'make' is not docker" BASE="debian@$digest" BUILDER=make
check "docker builds on the digest" builds "docker build $end $labels $base -t frictiond:$version -f Dockerfile ." \
	BASE="debian:bookworm-slim@$digest"
check "podman keeps the health check" builds \
	"podman build --format docker $time $end $labels $base -t a/frictiond:1 -f Dockerfile ." BASE="debian:bookworm-slim@$digest" TAG=a/frictiond:1 BUILDER=podman
check "buildah takes options" builds \
	"buildah --root x bud --format docker $time $end $labels $base -t frictiond:$version -f Dockerfile ." BASE="debian:bookworm-slim@$digest" BUILDER="buildah --root x"
check "the sources are labelled if they have an address" builds \
	"docker build $end $labels --label $name.source=https://example.org/a $base -t frictiond:$version -f Dockerfile ." \
	BASE="debian:bookworm-slim@$digest" SOURCE=https://example.org/a
check "a time that is no number is refused" \
	refuses "'noon' is not a number of seconds" BASE="debian@$digest" SOURCE_DATE_EPOCH=noon
checkout
check "without git, the time is that of the packed files" labelled "created=2023-11-14T22:13:20Z "
check "and there is no commit" not_labelled revision
commit
check "in git, time and commit are the commit's" labelled \
	"created=2026-01-01T00:00:00Z " "revision=[0-9a-f]{40} " "SOURCE_DATE_EPOCH=1767225600 "
touch "$work/checkout/more"
check "with uncommitted changes, there is no commit" not_labelled revision
check "which it tells" grep -qF "uncommitted changes" "$work/printed"
check "all stages of the Dockerfile use that base" \
	[ "$(grep -E '^(FROM|ARG BASE=)' Dockerfile | LC_ALL=C sort | tr '\n' ';')" = \
	'ARG BASE=debian:bookworm-slim;FROM ${BASE} AS build;FROM ${BASE} AS system;FROM system;' ]
check "the final image has no curl" sh -c '! grep -n curl Dockerfile'
finish
