#!/usr/bin/env bash
# scripts/packages in a separate mount namespace, with a fake apt-get: its output, and that no package can start or
# enable a service meanwhile. Nothing on this machine is changed.
# shellcheck disable=SC2016,SC2317  # single quotes are meant; functions are called through check
set -u
cd "$(dirname "$0")/../.." || exit 1

if [ "${1:-}" != inside ]; then
	for space in "unshare --mount" "unshare --mount --map-root-user"; do
		# shellcheck disable=SC2086  # words
		$space mount -t tmpfs none /run 2>/dev/null && exec $space "$0" inside
	done
	echo "ok 1 - scripts/packages # SKIP this machine allows no mount namespaces (unshare --mount), which this test needs"
	echo 1..1
	exit
fi

. tests/tap.sh
shown=("$work/out" "$work/err")
mount -t tmpfs none /run
mkdir -p "$work/sbin" "$work/bin" "$work/scripts" "$work/package/DEBIAN" "$work/package/usr/bin"
mount --bind "$work/sbin" /usr/sbin
export PATH=$work/bin:/usr/bin:/bin PLAYED=$work
policy=/usr/sbin/policy-rc.d
known=$(find /lib/systemd/system /etc/init.d -mindepth 1 -printf '%f\n' -quit 2>/dev/null)

sed 's|^tools\[test\]=.*|tools[test]="odd/usr/bin/oddtool"|' scripts/packages >"$work/scripts/packages"
chmod +x "$work/scripts/packages"
packages=$work/scripts/packages

# The fake prints a lot, and runs $PLAYED/during meanwhile.
cat >"$work/bin/apt-get" <<'END'
#!/bin/bash
echo "apt-get $*: chatter"
case $1 in
	download) cp "$PLAYED/odd.deb" ./odd_1_all.deb ;;
	install) : >"$PLAYED/installed"; . "$PLAYED/during" ;;
esac
END
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/bash
[ ! -e "$PLAYED/installed" ] || printf '%s installed\n' "${@:4}"
END
chmod +x "$work/bin"/*
printf 'Package: odd\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: odd\n' >"$work/package/DEBIAN/control"
printf '#!/bin/sh\necho odd tool\n' >"$work/package/usr/bin/oddtool"
chmod 755 "$work/package/usr/bin/oddtool"
dpkg-deb --root-owner-group -b "$work/package" "$work/odd.deb" >/dev/null

# install WHAT HAPPENS MEANWHILE, COMMAND...: sets status; its output is in out and err.
install() {
	rm -rf "$work/installed" "$work/build"
	echo "$1" >"$work/during"
	"${@:2}" >"$work/out" 2>"$work/err"
	status=$?
}

says() { # FILE LINE
	[ "$(cat "$work/$1")" = "$2" ] || { cat "$work/$1"; false; }
}

nothing_is_left() {
	! find "$policy" /run/systemd /run/frictiond-packages -type f ! -name lock 2>/dev/null | grep .
}

answers() { # the exit codes of policy-rc.d, in one line
	[ "$(cat "$work/answers")" = "$1" ] || { cat "$work/answers"; false; }
}

ask='for words in "new.service start" "--quiet new start" "new restart" "new.service stop" "'$known' restart"; do
	/usr/sbin/policy-rc.d $words; echo -n "$? "; done >"$PLAYED/answers"'
names="g++ gcc libgnutls28-dev libjansson-dev libmicrohttpd-dev libxxhash-dev make pkg-config python3-markdown zlib1g-dev"

install "$ask" "$packages" compile
check "it succeeds" [ "$status" = 0 ]
check "one line says what is installed" says out "Installing Debian packages: $names"
check "and nothing else" says err ""
check "the output of apt-get is in a file" grep -q '^apt-get install .*: chatter' "$work/build/packages.log"
check "new services are not started, old ones may be restarted, all may be stopped" answers "101 101 101 0 0 "
check "nothing is left behind" nothing_is_left

install 'cp -r /run/systemd "$PLAYED/presets"' "$packages" compile
check "nothing new is enabled, for the system or for users" \
	[ "$(cat "$work"/presets/{system,user}-preset/00-*.preset)" = $'disable *\ndisable *' ]
if command -v systemctl >/dev/null; then
	mkdir -p "$work/root/etc/systemd/system" "$work/root/run"
	cp -r "$work/presets" "$work/root/run/systemd"
	printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' >"$work/root/etc/systemd/system/new.service"
	systemctl --root="$work/root" --preset-mode=enable-only preset new.service >"$work/out" 2>"$work/err"
	check "nor is it for systemctl, which reads the presets" [ ! -e "$work/root/etc/systemd/system/multi-user.target.wants" ]
fi

install : env V=1 "$packages" compile
check "V=1 shows the output of apt-get" grep -q '^apt-get install .*: chatter' "$work/out"

install 'seq 100; echo "E: it is broken" >&2; exit 100' "$packages" compile
check "a failure exits with 1" [ "$status" = 1 ]
check "it shows the end of the output" grep -qx 'E: it is broken' "$work/err"
check "not all of it" [ "$(wc -l <"$work/err")" -lt 30 ]
check "and names the file with all of it" grep -q "$work/build/packages.log" "$work/err"
check "after a failure nothing is left behind" nothing_is_left

install 'kill -TERM $PPID' "$packages" --without-services apt-get install
check "SIGTERM ends it" [ "$status" = 143 ]
check "after SIGTERM nothing is left behind" nothing_is_left

printf '#!/bin/sh\nexit 0\n' >"$policy"
install 'cp /usr/sbin/policy-rc.d "$PLAYED/meanwhile"' "$packages" compile
check "another policy-rc.d stays meanwhile" [ "$(cat "$work/meanwhile")" = $'#!/bin/sh\nexit 0' ]
check "and afterwards" [ "$(cat "$policy")" = $'#!/bin/sh\nexit 0' ]
rm "$policy"

install 'cp -p /usr/sbin/policy-rc.d "$PLAYED/stale"' "$packages" compile
cp -p "$work/stale" "$policy"
check "one of its own that was left behind forbids nothing" "$policy" new.service start
install "$ask" "$packages" compile
check "it is replaced" answers "101 101 101 0 0 "
check "and removed" nothing_is_left

: >"$work/installed"
"$packages" test >"$work/out" 2>"$work/err"
check "only the program is taken out of a tool's package" says out "Taking oddtool out of Debian's package odd"
check "it is there" [ "$("$work/build/tools/bin/oddtool")" = "odd tool" ]
"$packages" test >"$work/out" 2>"$work/err"
check "and is not taken out again" says out ""

purposes=$(scripts/packages --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
no_service() {
	local purpose
	[ "$(wc -w <<<"$purposes")" -gt 8 ] || return 1
	for purpose in $purposes; do
		! scripts/packages --list "$purpose" | grep -xE 'nginx.*|prometheus.*|docker\.io' || return 1
	done
}
check "no purpose installs nginx or prometheus" no_service
finish
