#!/bin/sh
# Makes the programs, what readelf says about them, and what gdb says about every instruction. Needs Debian's packages gdb-multiarch,
# qemu-user, gcc and gcc-{aarch64,s390x}-linux-gnu, and of two versions of binutils the programs for all three CPUs:
#
#	NEW  a command that runs TRIPLET-TOOL of binutils 2.46 or later, whose assembler writes SFrame version 3
#	OLD  one for 2.41 to 2.45, whose assembler writes version 2 (not for s390x)
#
# Run it in this folder.
set -e
port=5700
make() { # name, triplet, the gcc command, emulator with arguments, flags
	name=$1 triplet=$2 cc=$3 qemu=$4
	shift 4
	"$cc" -S -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -fno-optimize-sibling-calls -fno-stack-protector -fno-ipa-ra \
		-ffreestanding -fno-pic -fstack-clash-protection "$@" -o "$name.s" t.c
	for version in 2 3; do
		tools=$NEW elf=$name.elf
		if [ $version = 2 ]; then
			[ "$triplet" = s390x-linux-gnu ] && continue
			tools=$OLD elf=$name-v2.elf
		fi
		$tools "$triplet-as" --gsframe -o "$name.o" "$name.s"
		$tools "$triplet-ld" -static -e _start --build-id=sha1 -z max-page-size=4096 -Ttext=0x410000 -o "$name.full" "$name.o"
		$NEW "$triplet-strip" -o "$elf" "$name.full"
		$NEW "$triplet-readelf" --sframe "$elf" >"$elf.sframe.txt"
		$NEW "$triplet-readelf" --debug-dump=frames-interp "$elf" | sed -n '/^Contents of the .eh_frame section/,$p' >"$elf.ehframe.txt"
	done
	port=$((port + 1))
	$qemu -g $port "./$name.full" &
	OUT=$name.json.gz PORT=$port timeout 600 gdb-multiarch -nx -batch -x trace.py "$name.full" 2>&1 | tail -n 2
	kill $! 2>/dev/null || true
	wait $! 2>/dev/null || true
	rm -f "$name.s" "$name.o" "$name.full"
}
make amd64 x86_64-linux-gnu x86_64-linux-gnu-gcc qemu-x86_64
# The CPU does not sign return addresses; the rules say that they are signed all the same.
make arm64 aarch64-linux-gnu aarch64-linux-gnu-gcc "qemu-aarch64 -cpu cortex-a72" -mbranch-protection=pac-ret
make arm64-key-b aarch64-linux-gnu aarch64-linux-gnu-gcc "qemu-aarch64 -cpu cortex-a72" -mbranch-protection=pac-ret+b-key
make s390x s390x-linux-gnu s390x-linux-gnu-gcc qemu-s390x -march=z196
