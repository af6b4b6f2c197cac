#!/bin/sh
# Makes the files of this folder, and truth.txt: what llvm-symbolizer says about each address of their code.
# Needs clang, lld and llvm 22, gcc 12, rustc 1.95 and python3.
set -e
fixed="-ffreestanding -fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-pic -O1 -fdebug-prefix-map=$PWD=/src"
clean() { rm -f lines.o lines.s hand.o hand-made.S; }
# elf NAME TARGET VERSION KIND COMPILER-OPTIONS…
elf() {
	name=$1 target=$2 version=$3 kind=$4
	shift 4
	clang++ -target $target $fixed -gdwarf-$version "$@" -c lines.cpp -o lines.o
	python3 hand.py $kind >hand-made.S
	clang -target $target $fixed -fdebug-compilation-dir=/src -g -gdwarf-$version -c hand-made.S -o hand.o
	ld.lld --build-id -z max-page-size=4096 -o $name lines.o hand.o
	clean
}
for version in 2 3 4 5; do
	elf x86_64-$version.elf x86_64-linux-gnu $version elf -gline-tables-only
done
elf i386.elf i386-linux-gnu 5 elf -gline-tables-only
elf arm64.elf aarch64-linux-gnu 5 elf -gline-tables-only
elf thumb.elf thumbv7-linux-gnueabi 4 thumb -gline-tables-only
elf mips.elf mips-linux-gnu 3 elf -gline-tables-only
elf ppc64.elf powerpc64-linux-gnu 4 elf -gline-tables-only # its symbols are descriptors
elf split4.elf x86_64-linux-gnu 4 elf -g -gsplit-dwarf -fsplit-dwarf-inlining
elf split5.elf x86_64-linux-gnu 5 elf -g -gsplit-dwarf
rm -f *.dwo
clang -target x86_64-linux-gnu $fixed -fdebug-compilation-dir=/src -g -gdwarf-2 -c sections.S -o hand.o 2>/dev/null
ld.lld -z max-page-size=4096 -o sections.elf hand.o
# The debug file and the program without it.
elf stripped.elf x86_64-linux-gnu 5 elf -gline-tables-only
objcopy --only-keep-debug stripped.elf stripped.debug
objcopy --strip-all stripped.elf
# GCC writes entries for all functions, of static ones without the linkage name.
g++ $fixed -no-pie -g1 -c lines.cpp -o lines.o
python3 hand.py gas >hand-made.S
gcc $fixed -g -c hand-made.S -o hand.o
ld -z noexecstack -z max-page-size=4096 -z noseparate-code -o gcc.elf lines.o hand.o 2>/dev/null
clang++ -target x86_64-linux-gnu $fixed -gline-tables-only -c lines.cpp -o object.o
clean
for bits in 64 32; do # without padding, which a symbol table without sizes counts among the functions
	cpu=x86_64 kind=coff linker=i386pep
	[ $bits = 32 ] && cpu=i686 kind=coff32 linker=i386pe
	clang++ -target $cpu-w64-mingw32 $fixed -gline-tables-only -S lines.cpp -o lines.s
	sed -i /p2align/d lines.s
	clang -target $cpu-w64-mingw32 -c lines.s -o lines.o
	python3 hand.py $kind >hand-made.S
	clang -target $cpu-w64-mingw32 $fixed -fdebug-compilation-dir=/src -g -c hand-made.S -o hand.o
	ld.lld -m $linker --no-insert-timestamp -o mingw$bits.exe lines.o hand.o
	clean
done
for level in line-tables-only 1; do
	rustc --edition 2021 -C debuginfo=$level -C opt-level=1 -C panic=abort -C relocation-model=static -C link-arg=-nostdlib -C link-arg=-nostartfiles \
		-C link-arg=-static -C link-arg=-Wl,-z,max-page-size=4096 --remap-path-prefix=$PWD=/src -o rust-$level.elf rust.rs
done
python3 truth.py *.elf *.o *.exe >truth.txt
