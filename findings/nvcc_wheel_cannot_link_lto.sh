#!/bin/sh
# nvcc from its wheels (13.4, 13.5): `nvcc -dlto -dlink` fails, because nvlink looks for libNVVM where no wheel puts it.
#
# nvlink opens nvvm/lib64/libnvvm.so, beside the folder that it is in, and says "linker library load error". The wheel nvidia-nvvm has the
# library as lib/libnvvm.so.4. A link makes it work.
#
# Seen on Linux x86_64, without a GPU:
#
#     nvidia-cuda-nvcc==13.4.92: fails, and links with a link to the library
#     nvidia-cuda-nvcc==13.5.37: fails, and links with a link to the library
#
# What it means for a cache: a failure is not kept, and what was not found where nvlink looked counts. So once the link is there, jitcache
# runs the command again (tests/launch/test_nvcc.py makes it). The script needs g++, and fails if a wheel does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
cd "$folder"
echo 'extern __device__ int f(int); __global__ void k(int *p) { *p = f(*p); }' >a.cu
echo '__device__ int f(int x) { return x * 3; }' >b.cu
for version in 13.4.92 13.5.37; do
	runtime=$version
	[ $version = 13.4.92 ] && runtime=13.4.*
	"$folder/env/bin/pip" install -q --disable-pip-version-check --target "$folder/$version" "nvidia-cuda-nvcc==$version" \
		"nvidia-cuda-crt==$version" "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime"
	root=$folder/$version/nvidia/cu13
	"$root/bin/nvcc" -arch=sm_90 -dc -dlto a.cu b.cu
	without=fails with=fails
	"$root/bin/nvcc" -arch=sm_90 -dlto -dlink a.o b.o -o linked.o 2>said && without=links
	head -2 said
	mkdir -p "$root/nvvm/lib64"
	ln -s ../../lib/libnvvm.so.4 "$root/nvvm/lib64/libnvvm.so"
	"$root/bin/nvcc" -arch=sm_90 -dlto -dlink a.o b.o -o linked.o && with=links
	echo "nvidia-cuda-nvcc==$version: $without, and $with with a link to the library"
	[ $without = fails ] && [ $with = links ] || { echo "this wheel does otherwise by now" >&2; exit 1; }
done
