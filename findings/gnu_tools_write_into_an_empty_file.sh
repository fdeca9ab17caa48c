#!/bin/sh
# GNU as and ld: an output that stands and is empty is written into; any other is removed, and made anew.
#
# Before they write, they remove what is in the way only if it is a regular file that is not empty (unlink_if_ordinary asks stat for
# the size). So a second name of the old output (a hard link) keeps the old content if that was not empty, and shows the new content
# if it was. gcc -c and gcc -o do the same, because they leave their outputs to these two.
#
# Seen with GNU Binutils 2.40 (Debian 12) on Linux x86_64; each line has what stood there, and whether the output is that
# file:
#
#     as, empty: the same file
#     as, not empty: another file
#     ld, empty: the same file
#     ld, not empty: another file
#
# What it means for a cache: to put an output in place as the tool would, a replay has to know what stands there: how a command puts
# its outputs in place is kept with them (record/placement.go). The script needs as and ld, and fails if they do otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
as --version | head -n 1
printf '.globl _start\n_start:\n' >a.s
as -o a.o a.s
tries() { # NAME FILE COMMAND...: runs a command that writes FILE, over an empty file and over another one
	name=$1 file=$2
	shift 2
	for stood in "" text; do
		rm -f "$file" second
		printf '%s' "$stood" >"$file"
		ln "$file" second
		"$@"
		same=another
		[ "$file" -ef second ] && same="the same"
		echo "$name, ${stood:+not }empty: $same file"
	done
}
{
	tries as b.o as -o b.o a.s
	tries ld b.out ld -o b.out a.o
} | tee seen
cat >want <<'SEEN'
as, empty: the same file
as, not empty: another file
ld, empty: the same file
ld, not empty: another file
SEEN
cmp -s seen want || { echo "as or ld does otherwise by now" >&2; exit 1; }
