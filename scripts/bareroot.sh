#!/usr/bin/env bash
# Installs the wheel of dist in bare roots of Debian, which have Python with pip and nothing else,
# and runs there what the pages of the Python package show, word for word.
#
# usage: scripts/bareroot.sh [SUITE | FOLDER]...     (default: bookworm trixie)
#
# A folder is a root that exists; it is copied. The script needs to run as root, and needs
# debootstrap, a network, and the wheel of "make wheel".
set -euo pipefail
cd "$(dirname "$0")/.."
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
	work=$root/work
	mkdir -p "$work/dist"
	cp "${wheels[0]}" "$work/dist/"
	commands bindings/python/README.md >"$work/commands.sh"
	for page in bindings/python/README.md docs/python/*.md; do
		sessions "$page" >"$work/$(basename "$page" .md).txt"
	done
	printf '\n=== %s\n' "$one"
	chroot "$root" /bin/sh -euc '
		cd /work
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
