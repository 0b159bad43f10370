# shellcheck shell=bash disable=SC2154  # $work is defined where this is sourced
# Sourced by suites that make a Debian system of their own with mmdebstrap, through the mirrors and apt settings of this
# machine. $work is a folder of the suite's own, defined before this is sourced.

debian_sources() {
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		grep -E ' bookworm(-updates|-security)? main$' | sort -u
}

# base.list and base.conf: this machine's mirrors, proxy and tolerance of old mirrors. Their hash names the cached
# tarball.
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
