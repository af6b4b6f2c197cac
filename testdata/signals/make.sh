#!/bin/sh
# Makes NAME.json: the state of signals.c where its handler begins, for each CPU and form of signal
# frame. Needs clang 22, lld, gdb-multiarch and qemu-user (7.2: see ppc64 in core/cpu).
port=5700
make() { # name, target, emulator, byte order, link register in gdb, word, size of a mask, more flags
	name=$1 target=$2 qemu=$3
	export ORDER=$4 LR=$5 WORD=$6 OUT=$1.json
	mask=$7
	shift 7
	clang-22 --target="$target" -O1 -fuse-ld=lld -static -nostdlib -ffreestanding -fno-pic -fno-stack-protector -Wno-everything -DMASK="$mask" "$@" -Wl,-e,_start -o /tmp/signals."$name" signals.c || return
	port=$((port + 1))
	PORT=$port
	export PORT
	"$qemu" -g $port /tmp/signals."$name" &
	timeout 60 gdb-multiarch -nx -batch -x trace.py /tmp/signals."$name" 2>&1 | tail -n 1
	kill $! 2>/dev/null
	wait $! 2>/dev/null
}
make amd64 x86_64-linux-gnu qemu-x86_64 little "" 8 8
make x86 i386-linux-gnu qemu-i386 little "" 4 8
make x86-plain i386-linux-gnu qemu-i386 little "" 4 8 -DPLAIN
make arm64 aarch64-linux-gnu qemu-aarch64 little x30 8 8
make arm armv7-linux-gnueabihf qemu-arm little lr 4 8 -marm '-DNUMBER="173"'
make arm-plain armv7-linux-gnueabihf qemu-arm little lr 4 8 -marm -DPLAIN '-DNUMBER="119"'
make thumb armv7-linux-gnueabihf qemu-arm little lr 4 8 -mthumb '-DNUMBER="173"'
make thumb-plain armv7-linux-gnueabihf qemu-arm little lr 4 8 -mthumb -DPLAIN '-DNUMBER="119"'
make thumb-wide armv7-linux-gnueabihf qemu-arm little lr 4 8 -mthumb '-DNUMBER="173"' '-DMOV="mov.w"'
make thumb-wide-plain armv7-linux-gnueabihf qemu-arm little lr 4 8 -mthumb -DPLAIN '-DNUMBER="119"' '-DMOV="mov.w"'
make riscv riscv32-linux-gnu qemu-riscv32 little ra 4 8 -march=rv32i -mabi=ilp32
make riscv64 riscv64-linux-gnu qemu-riscv64 little ra 8 8
make loongarch64 loongarch64-linux-gnu qemu-loongarch64 little r1 8 8
make mips mips-linux-gnu qemu-mips big ra 4 16 -mno-abicalls
make mips-plain mipsel-linux-gnu qemu-mipsel little ra 4 16 -mno-abicalls -DPLAIN
make mips64 mips64-linux-gnuabi64 qemu-mips64 big ra 8 16 -mno-abicalls
make ppc powerpc-linux-gnu qemu-ppc big lr 4 8
make ppc-plain powerpc-linux-gnu qemu-ppc big lr 4 8 -DPLAIN
make ppc64 powerpc64-linux-gnu qemu-ppc64 big lr 8 8 -mabi=elfv2
make ppc64le powerpc64le-linux-gnu qemu-ppc64le little lr 8 8
make s390x s390x-linux-gnu qemu-s390x big r14 8 8
make s390x-plain s390x-linux-gnu qemu-s390x big r14 8 8 -DPLAIN
