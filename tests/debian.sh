# shellcheck shell=bash disable=SC2154  # $work is defined where this is sourced
# Sourced by suites that make a Debian system of their own with mmdebstrap, through the mirrors and apt settings of this
# machine. $root is the checkout, $work a folder of the suite's own; both are defined before this is sourced.

debian_sources() {
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		grep -E ' bookworm(-updates|-security)? main$' | sort -u
}

# base.list and base.conf: this machine's mirrors, proxy and tolerance of old mirrors.
describe_base() {
	debian_sources >"$work/base.list" ||
		{ apt-get update -qq && debian_sources >"$work/base.list"; } ||
		{ echo "apt knows no source of bookworm main"; return 1; }
	apt-config dump | grep -E '^Acquire::(https?::|Check-Valid-Until |Check-Date |Retries |ForceIPv[46] )' |
		grep -v 'Auto-\?Detect' >"$work/base.conf"
	echo 'Acquire::Languages "none";' >>"$work/base.conf"
}

# Certificates that apt needs inside: the system's for https mirrors, and those named in apt's settings.
certificate_hooks() {
	local file
	{
		grep -q 'deb https:' "$work/base.list" && echo /etc/ssl/certs/ca-certificates.crt
		sed -n 's/^Acquire::.*Ca\(Info\|Path\) "\(.*\)";/\2/Ip' "$work/base.conf"
	} | sort -u | while read -r file; do
		[ -f "$file" ] || continue
		printf '%s\n' "--customize-hook=mkdir -p \"\$1$(dirname "$file")\"" "--customize-hook=upload $file $file"
	done
}

# minbase without manuals and documentation, but with copyright files, like the slim image. All suites share it; a change
# of mirrors or of this function makes it anew.
base_tarball() { # sets $tarball
	local hooks folder=$root/build/base
	describe_base || return 1
	mapfile -t hooks < <(certificate_hooks)
	tarball=$folder/$(cat "$work/base.list" "$work/base.conf" <(declare -f base_tarball certificate_hooks) | sha256sum | cut -c1-16).tar
	mkdir -p "$folder" && exec {lock}>"$folder/lock" && flock "$lock" || return 1
	if [ ! -e "$tarball" ]; then
		rm -f "$folder"/*.tar
		mmdebstrap --variant=minbase --aptopt="$work/base.conf" --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
			--dpkgopt='path-exclude=/usr/share/locale/*' "${hooks[@]}" bookworm "$work/base.tar" "$work/base.list" &&
			mv "$work/base.tar" "$tarball" || return 1
	fi
	exec {lock}>&-
	[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$folder"
}

# What is installed there later has its manuals and documentation.
bare_system() { # FOLDER
	local tarball
	base_tarball && mkdir -p "$1" && tar -x --numeric-owner --exclude='./dev/*' -C "$1" -f "$tarball" || return 1
	cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"
	printf 'APT::Install-Recommends "false";\nquiet "1";\nDpkg::Use-Pty "false";\n' >"$1/etc/apt/apt.conf.d/test"
}

# Mounts and processes are in namespaces of their own, so none remain when the command ends. The new root
# replaces the old one, because namespaces, which some tests need, cannot be made in a mere chroot. A folder for objects
# in the system becomes the gate's cache.
enter() { # SYSTEM FOLDER COMMAND of sh
	# shellcheck disable=SC2016  # the inner shell expands it
	unshare --mount --pid --ipc --uts --fork --kill-child sh -c '
		mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount -t tmpfs none "$1/run" &&
			mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" &&
			{ [ ! -d "$1/var/cache/objects" ] || mount --bind "$CCACHE_DIR" "$1/var/cache/objects"; } &&
			cd "$1" && pivot_root . mnt && umount -l /mnt || exit 1
		proxies=$(env | grep -iE "^(https?|no)_proxy=" | tr "\n" " ")
		exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $proxies \
			chroot . sh -c "cd $2 && $3"' sh "$1" "$2" "$3"
}
