#!/bin/sh
# Writes NAME.readelf.txt: what another program, readelf of binutils 2.46 or later, makes of NAME.sframe. BINUTILS is a command that
# runs TRIPLET-TOOL of such a version. Run it in this folder.
set -e
say() { # triplet, BFD's format, its CPU, name:address ...
	triplet=$1 format=$2 cpu=$3
	shift 3
	for section in "$@"; do
		name=${section%%:*}
		$BINUTILS "$triplet-objcopy" -I binary -O "$format" -B "$cpu" --rename-section .data=.sframe,alloc,load,readonly,data,contents \
			--set-section-alignment .data=8 --change-section-address ".data=${section##*:}" "$name.sframe" "$name.o"
		$BINUTILS "$triplet-readelf" --sframe "$name.o" >"$name.readelf.txt"
		rm "$name.o"
	done
}
say s390x-linux-gnu elf64-s390 s390:64-bit s390x:0x2000 version3-s390x:0x3000
say x86_64-linux-gnu elf64-x86-64 i386:x86-64 unsorted:0x5000 auxiliary:0x3000 repeated:0x3000 wide:0x900000 frame-pointers:0x3000 version3:0x7f0000003000
say aarch64-linux-gnu elf64-littleaarch64 aarch64 arm64:0x3000
say aarch64-linux-gnu elf64-bigaarch64 aarch64 arm64-big:0x3000
