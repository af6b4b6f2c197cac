#!/bin/sh
# Makes the libraries and programs in this folder, one each for every target, stripped and without padding to large pages.
# Needs Debian's gcc-<target> packages (gcc 12, binutils 2.40). The expected names are in publics.txt: go test -run TestTargets -update
set -e
for target in x86_64-linux-gnu i686-linux-gnu aarch64-linux-gnu arm-linux-gnueabihf riscv64-linux-gnu s390x-linux-gnu powerpc-linux-gnu \
	powerpc64-linux-gnu mips-linux-gnu mips64el-linux-gnuabi64 sparc64-linux-gnu; do
	options="-O1 -nostdlib -s -Wl,-z,max-page-size=4096 -Wl,-z,common-page-size=4096 -Wl,-z,noseparate-code -Wl,--build-id=sha1"
	$target-gcc $options -shared -fPIC -Wl,-soname,libimported.so -o libimported.so imported.c
	$target-gcc $options -fno-pic -no-pie -rdynamic -e run -o $target.elf importing.c libimported.so
	rm libimported.so
done
# No such compiler is in Debian 12: that of zig (pip install ziglang).
options="-target loongarch64-linux-musl -O1 -nostdlib -s -Wl,-z,max-page-size=4096 -Wl,--build-id=sha1"
python3 -m ziglang cc $options -shared -fPIC -Wl,-soname,libimported.so -o libimported.so imported.c
python3 -m ziglang cc $options -no-pie -rdynamic -Wl,-e,run -o loongarch64-linux-musl.elf importing.c libimported.so
rm libimported.so
