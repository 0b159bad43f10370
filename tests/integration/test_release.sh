#!/bin/bash
# One version everywhere, and make dist: in fresh checkouts made from the current files, two of them at different times
# and places. The packed sources build.
# shellcheck disable=SC2317,SC2016  # functions are called by check; single quotes are meant
cd "$(dirname "$0")/../.." || exit 1
if ! git rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
	echo "ok 1 - make dist # SKIP this is not a git checkout"
	echo 1..1
	exit
fi
. tests/tap.sh
version=$(scripts/version)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE="1767225600 +0000"
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org GIT_COMMITTER_DATE="1767225600 +0000"

checkout() { # FOLDER
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar -c --null -T - | tar -x -C "$1"
	git -C "$1" init -q -b main
	commit "$1"
}

commit() { # FOLDER
	git -C "$1" add -A
	git -C "$1" commit -q --allow-empty -m "a commit"
}

dist() { # FOLDER; in the environment of a user's shell
	(cd "$1" && env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory dist) >"$work/printed" 2>&1
	local status=$?
	cat "$work/printed"
	return $status
}

refuses() { # TEXT FOLDER
	! dist "$2" && grep -qF -- "$1" "$work/printed"
}

tarball() { # FOLDER
	echo "$1"/build/dist/*.tar.gz
}

# ---- one version ----

everywhere() { # only files that scripts/version updates state the version
	local known found
	known=$(sed -nE 's/^\t"([^|"$]+)\|.*/\1/p' scripts/version)
	[ "$(wc -l <<<"$known")" -gt 5 ] || return 1
	# Left out: the history of old versions, and examples.
	found=$(git grep -lIF "$version" -- ':!*package*.json' ':!*.svg' ':!CHANGELOG.md' ':!docs/troubleshooting.md' ':!core/fric.h' \
		':!tests/deploy/alerts.test.yml' ':!tests/reference' ':!tests/cases' ':!packaging/debian/*.symbols' |
		grep -vxF "$known" | xargs -r grep -nHE "(^|[^0-9.])${version//./\\.}([^0-9.]|\$)")
	echo "$found"
	[ -z "$found" ]
}

elsewhere() { # FILE: it is named if it states another version
	sed -i "s/$version/99.0.0/" "$work/a/$1"
	! "$work/a/scripts/version" --check 2>"$work/printed" || return 1
	git -C "$work/a" checkout -q "$1"
	grep -F "$1" "$work/printed"
}

rewrites() {
	"$work/a/scripts/version" 7.8.90 && "$work/a/scripts/version" --check && [ "$("$work/a/scripts/version")" = 7.8.90 ] &&
		[ "$(git -C "$work/a" diff --numstat | awk '$1 != $2 || $1 > 2' | wc -l)" = 0 ]
	local status=$?
	git -C "$work/a" checkout -q .
	return $status
}

program() {
	[ "$("${FRICTIOND:-build/frictiond}" --version)" = "frictiond $version" ]
}

description() {
	[ "$("${FRICTIOND:-build/frictiond}" --print-openapi | jq -r .info.version)" = "$version" ]
}

# Read from __init__.py, which is listed.
python_project() {
	grep -qx 'dynamic = \["version"\]' clients/python/pyproject.toml && ! grep -E '^version *= *"' clients/python/pyproject.toml
}

checkout "$work/a"
check "all files state the version of fric.h" scripts/version --check
check "no other place states the version" everywhere
check "and so does the program" program
check "and its description in OpenAPI" description
check "the Python project takes it from the package" python_project
for file in CITATION.cff Dockerfile docs/api.md clients/python/frictiond/__init__.py deploy/kubernetes/base/deployment.yaml; do
	check "$file: another version is noticed" elsewhere "$file"
done
check "a new version is written everywhere" rewrites

# ---- make dist ----

# A CHANGELOG.md between releases, and one of a release.
changelog() { # FOLDER LINE OF UNRELEASED
	printf '# Changelog\n\n## [Unreleased]\n%s\n## [%s] - 2026-01-01\n\n- something\n' "$2" "$version" >"$1/CHANGELOG.md"
	commit "$1"
}

same() {
	git clone -q "$work/a" "$work/elsewhere/b"
	find "$work/elsewhere/b" -not -path '*/.git/*' -exec touch -d '2001-01-01' {} +
	(umask 077 && dist "$work/elsewhere/b") && cmp "$(tarball "$work/a")" "$(tarball "$work/elsewhere/b")"
}

names_commit() {
	[ "$(basename "$(tarball "$work/a")")" = "frictiond-$version+$(git -C "$work/a" rev-parse --short=12 HEAD).tar.gz" ]
}

tags() {
	grep -qxF "  git tag -s v$version -m 'frictiond $version' $(git -C "$work/a" rev-parse HEAD)" "$work/printed"
}

# Starts with the objects of this build, because the sources are the same. make links them, and recompiles objects that
# depend on a file that the tarball lacks, which fails.
builds() {
	local folder=$work/unpacked/frictiond-$version layer
	mkdir "$work/unpacked"
	tar -x -f "$(tarball "$work/a")" -C "$work/unpacked" || return 1
	for layer in core api server web; do
		diff -r "$layer" "$folder/$layer" || return 1
	done
	find "$folder" -exec touch -d '1 hour ago' {} +
	mkdir -p "$folder/build/release" && cp -R build/release/core build/release/api build/release/server "$folder/build/release" || return 1
	cd "$folder" || return 1
	env -u MAKEFLAGS -u MAKELEVEL -u MODE make -j2 && [ "$(build/frictiond --version)" = "frictiond $version" ]
}

changelog "$work/a" "- something new"
check "between releases it packs a snapshot" dist "$work/a"
check "named after its commit" names_commit
check "without commands to tag it" sh -c "! grep 'git tag' '$work/printed'"
changelog "$work/a" ""
check "a release is packed" dist "$work/a"
check "it prints how to tag it" tags
check "under the name of the version" [ "$(tarball "$work/a")" = "$work/a/build/dist/frictiond-$version.tar.gz" ]
check "with its checksum" sh -c "cd '$work/a/build/dist' && sha256sum --strict -c SHA256SUMS"
check "elsewhere and at another time it has the same bytes" same
check "make builds the unpacked sources" builds
echo >>"$work/a/README.md"
check "uncommitted changes are refused" refuses "uncommitted changes" "$work/a"
git -C "$work/a" checkout -q .
git -C "$work/a" tag "v$version"
commit "$work/a"
check "a version that is tagged elsewhere is refused" refuses "the tag v$version is another commit" "$work/a"
git -C "$work/a" tag -d "v$version" >/dev/null
printf '# Changelog\n\n## [Unreleased]\n' >"$work/a/CHANGELOG.md"
commit "$work/a"
check "a version that the changelog does not know is refused" refuses "has no section [$version]" "$work/a"
finish
