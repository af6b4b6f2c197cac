#!/bin/sh
# Makes the programs (NAME.elf) and what gdb says about them (NAME.json.gz). Needs Debian's packages gdb-multiarch, qemu-user and the
# cross compilers gcc-*-linux-gnu*; one that is missing is passed over. Run it in this folder.
set -e
port=5600
make() { # name, compiler, emulator, more flags
	name=$1 cc=$2 qemu=$3
	shift 3
	command -v "$cc" >/dev/null && command -v "$qemu" >/dev/null || { echo "$name: $cc or $qemu is missing"; return; }
	"$cc" -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -fno-optimize-sibling-calls -fno-stack-protector -fno-ipa-ra \
		-ffreestanding -ffile-prefix-map="$(pwd)"=. -fno-pic -no-pie -static -nostdlib -nostartfiles -Wl,--build-id=sha1,-e,_start,-z,max-page-size=4096 "$@" -o "$name.elf" t.c
	port=$((port + 1))
	"$qemu" -g $port "./$name.elf" &
	OUT=$name.json.gz PORT=$port timeout 300 gdb-multiarch -nx -batch -x trace.py "$name.elf" 2>&1 | tail -n 2
	kill $! 2>/dev/null || true
	wait $! 2>/dev/null || true
}
make amd64 x86_64-linux-gnu-gcc qemu-x86_64
make x86 i686-linux-gnu-gcc qemu-i386
make arm64 aarch64-linux-gnu-gcc qemu-aarch64
make arm arm-linux-gnueabihf-gcc qemu-arm -marm -g1
make thumb arm-linux-gnueabihf-gcc qemu-arm -mthumb -g1
make mips mips-linux-gnu-gcc qemu-mips -mno-abicalls
make mips64 mips64el-linux-gnuabi64-gcc qemu-mips64el -mno-abicalls
make ppc powerpc-linux-gnu-gcc qemu-ppc
make ppc64 powerpc64-linux-gnu-gcc qemu-ppc64
make riscv64 riscv64-linux-gnu-gcc qemu-riscv64
make s390x s390x-linux-gnu-gcc qemu-s390x
# The same with frame pointers, which leaves and prologues do not have.
make amd64fp x86_64-linux-gnu-gcc qemu-x86_64 -fno-omit-frame-pointer
make x86fp x86_64-linux-gnu-gcc qemu-i386 -m32 -fno-omit-frame-pointer
# With -mrtd functions take their arguments from the stack.
make x86rtd x86_64-linux-gnu-gcc qemu-i386 -m32 -mrtd -DFRAME
make arm64fp aarch64-linux-gnu-gcc qemu-aarch64 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
make arm64fpleaf aarch64-linux-gnu-gcc qemu-aarch64 -fno-omit-frame-pointer -momit-leaf-frame-pointer
make riscv64fp riscv64-linux-gnu-gcc qemu-riscv64 -fno-omit-frame-pointer
# gdb 13 does not understand qemu's stub for loongarch64, and Debian has no gcc for it; its pages have 16 KB.
loongarch() { # name, more flags
	name=$1 port=$((port + 1))
	shift
	command -v clang-22 >/dev/null && command -v qemu-loongarch64 >/dev/null || { echo "$name: clang-22 or qemu-loongarch64 is missing"; return; }
	clang-22 --target=loongarch64-linux-gnu -w -O2 -fasynchronous-unwind-tables -fno-optimize-sibling-calls -fno-stack-protector -ffreestanding \
		-ffile-prefix-map="$(pwd)"=. -fno-pic -static -nostdlib -nostartfiles -fuse-ld=lld-22 -Wl,--build-id=sha1,-e,_start,-z,max-page-size=16384 "$@" -o "$name.elf" t.c
	qemu-loongarch64 -g $port "./$name.elf" &
	timeout 300 python3 stub.py $port "$name.elf" "$name.json.gz"
	kill $! 2>/dev/null || true
	wait $! 2>/dev/null || true
}
loongarch loongarch64 -fomit-frame-pointer
loongarch loongarch64fp -fno-omit-frame-pointer
