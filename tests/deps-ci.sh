#!/bin/sh
# Install Debian's packages for make test-all, if they are missing: abidiff for the types
# of the interface, strace for system calls, cmake and pkg-config for the installed
# library, squashfs-tools for images that are mounted in turn, clang and ccache beside gcc,
# generators of code, small compilers, linkers, wrappers and builds that are observed and compared with
# strace, clang 16 if clang is older (16 reads configuration files), the compiler wrappers
# and launchers of both MPIs, PETSc with an MPI as difficult hosts, shells that complete
# the command, a browser for the pages, what the wheel of gmsh needs.
set -eu
missing=
# dpkg-query also knows packages that are only recommended by others.
installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
for pair in abidw:abigail-tools abidiff:abigail-tools strace:strace cmake:cmake pkg-config:pkg-config g++:g++ clang:clang ccache:ccache mpirun:openmpi-bin mksquashfs:squashfs-tools \
	ld.lld:lld mold:mold gfortran:gfortran mpicc.openmpi:libopenmpi-dev mpicc.mpich:libmpich-dev ninja:ninja-build tcc:tcc make:make gdb:gdb musl-gcc:musl-tools bison:bison flex:flex m4:m4 swig:swig protoc:protobuf-compiler sdcc:sdcc nasm:nasm re2c:re2c lua5.4:lua5.4 glslangValidator:glslang-tools x86_64-w64-mingw32-gcc-posix:gcc-mingw-w64-x86-64-posix zstd:zstd zsh:zsh fish:fish redis-server:redis-server nginx:nginx-light chromium:chromium; do
	command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
# Headers for plugins of the installed gcc; a clang that embeds files, and clang's runtime for profiles.
plugins="gcc-$(gcc -dumpversion | cut -d. -f1)-plugin-dev"
for package in libopenmpi-dev mpich libmpich-dev gcc-multilib "$plugins"; do # the wrappers link nothing without; -m32
	installed "$package" || missing="$missing $package"
done
for package in libglu1-mesa libxrender1 libxcursor1 libxfixes3 libxext6 libxft2 libxinerama1 libgomp1; do # gmsh's wheel needs them
	installed "$package" || missing="$missing $package"
done
[ -e /usr/lib/python3/dist-packages/petsc4py.pth ] || missing="$missing python3-petsc4py"
install() {
	[ "$(id -u)" = 0 ] || { echo "deps-ci: needs root to install $*" >&2; exit 1; }
	command -v apt-get >/dev/null || { echo "deps-ci: not Debian; install $*" >&2; exit 1; }
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1 || {
		apt-get update -q >/dev/null
		apt-get install -y -q --no-install-recommends "$@" >/dev/null
	}
}
# shellcheck disable=SC2086 # words
[ -z "$missing" ] || install $missing
for package in clang-19 "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"; do # not every release has them
	installed "$package" || (install "$package") || echo "deps-ci: without $package" >&2
done
case $(clang -dumpversion) in
[0-9].* | 1[0-5].*) [ -x /usr/bin/clang-16 ] || install clang-16 ;;
esac
# A server for S3, if there is a Go.
if command -v go >/dev/null && ! [ -x "$(go env GOPATH)/bin/versitygw" ]; then
	go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 || echo "deps-ci: without versitygw" >&2
fi
