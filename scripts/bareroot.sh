#!/usr/bin/env bash
# Installs the wheel of dist in bare roots of Debian, which have Python with pip and nothing else,
# and runs there what the pages of the Python package show, word for word.
#
# usage: scripts/bareroot.sh [SUITE | FOLDER]...     (default: bookworm trixie)
#        scripts/bareroot.sh readme [SUITE | FOLDER]
#
# With readme the root has git and this machine's Go and nothing else, no C compiler; the commands
# are the first ones of README.md, which clone the last commit, and the script says how many
# seconds they take.
#
# A folder is a root that exists; it is copied. The script needs to run as root, and needs
# debootstrap, a network, and without readme the wheel of "make wheel".
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = readme ]; then
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	if [ -d "${2:-}" ]; then
		cp -a "$2" "$folder/root"
	else
		debootstrap --variant=minbase --include=git,ca-certificates "${2:-bookworm}" "$folder/root" >"$folder/log" 2>&1 ||
			{ tail "$folder/log" >&2; exit 1; }
	fi
	root=$folder/root
	mkdir -p "$root/srv"
	cp -r "$(go env GOROOT)" "$root/usr/local/go"
	git clone --quiet --bare . "$root/srv/halfulp.git"
	[ ! -f "${SSL_CERT_FILE:-}" ] || install -D "$SSL_CERT_FILE" "$root/etc/ssl/certs/ca-certificates.crt"
	cp /etc/resolv.conf "$root/etc/"
	# block LANGUAGE: the first block in that language.
	block() { awk -v start="\`\`\`$1" '$0 == start { inside = 1; next } /^```/ && inside { exit } inside' README.md; }
	block sh >"$root/srv/commands.sh"
	block console | sed '/^\$ /d; /^\.\.\.$/d' >"$root/srv/want.txt"
	unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin:/usr/local/go/bin /bin/bash -euc '
		git config --global safe.directory "*"
		git config --global url.file:///srv/halfulp.git.insteadOf https://github.com/halfulp/halfulp
		for compiler in cc gcc g++; do
			if command -v "$compiler"; then echo "the root has a C compiler"; exit 1; fi
		done
		cd /srv
		cat commands.sh
		bash -euc ". ./commands.sh" >output.txt 2>&1
		echo "$SECONDS s"
		test -s want.txt
		while IFS= read -r line; do
			grep -qxF -- "$line" output.txt || { cat output.txt; echo "the output lacks: $line"; exit 1; }
		done <want.txt'
	echo passed
	exit
fi
shopt -s nullglob
wheels=(dist/halfulp-*.whl)
if [ ${#wheels[@]} != 1 ]; then
	echo "dist has ${#wheels[@]} wheels: make wheel makes one" >&2
	exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# sessions PAGE: the page as doctest reads it, without the lines around blocks.
sessions() { sed 's/^```.*//' "$1"; }

# commands PAGE: the commands of console blocks as a script that compares their output. What needs
# the clone is left out.
commands() {
	awk '
		/^```/ { finish(); inside = $0 == "```console"; next }
		inside && /^\$ / { finish(); command = substr($0, 3); next }
		inside { want = want $0 "\n" }
		function finish() {
			if (command != "" && command !~ /^(make |pip install \.\/)/) {
				gsub("\047", "\047\\\047\047", want)
				quiet = command ~ /^pip / ? " >/dev/null" : ""
				printf "printf \047$ %%s\\n\047 %s\n", quote(command)
				if (quiet) print command quiet
				else printf "test \"$(%s)\" = \"$(printf %%s \047%s\047)\"\n", command, want
			}
			command = want = ""
		}
		function quote(s) { gsub("\047", "\047\\\047\047", s); return "\047" s "\047" }
	' "$1"
}

[ $# != 0 ] || set -- bookworm trixie
for one in "$@"; do
	root=$folder/$(basename "$one")
	if [ -d "$one" ]; then
		cp -a "$one" "$root"
	else
		debootstrap --variant=minbase --include=python3,python3-venv,python3-pip "$one" "$root" >"$folder/log" 2>&1 ||
			{ tail "$folder/log" >&2; exit 1; }
	fi
	if [ -f "${PIP_CERT:-}" ]; then # certificates of this machine's own network
		install -D "$PIP_CERT" "$root$PIP_CERT"
	fi
	work=$root/srv
	mkdir -p "$work/dist"
	cp "${wheels[0]}" "$work/dist/"
	commands bindings/python/README.md >"$work/commands.sh"
	for page in bindings/python/README.md docs/python/*.md; do
		sessions "$page" >"$work/$(basename "$page" .md).txt"
	done
	printf '\n=== %s\n' "$one"
	chroot "$root" /bin/sh -euc '
		cd /srv
		ldd --version | head -1
		python3 --version
		python3 -m venv /venv
		. /venv/bin/activate
		. ./commands.sh
		pip list 2>/dev/null | grep -E "numpy|halfulp"
		python -m doctest -o ELLIPSIS *.txt
		test "$(halfulp --version)" = "$(python -m halfulp --version)"
		pip uninstall --yes --quiet halfulp
		if find /venv -iname "*halfulp*" | grep .; then
			echo "pip uninstall left these files"
			exit 1
		fi'
	echo "passed"
	rm -rf "$root"
done
