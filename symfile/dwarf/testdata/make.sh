#!/bin/sh
# Makes the files of this folder: see README.md. Needs gcc 12, clang 14, lld 14 and 22, binutils 2.40, dwz 0.15, fpc 3.2.2 of Debian 12.
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/shapes.h "$here"/shapes.cpp "$here"/more.cpp "$here"/plain.c "$here"/local.cpp "$work"
cd "$work"
common="-O2 -ffreestanding -fno-exceptions -fno-asynchronous-unwind-tables -fno-stack-protector -fdebug-prefix-map=$work=/src"

# build NAME COMPILER CXXCOMPILER FLAGS: compiles and links the three units, and keeps the debug sections.
build() {
	name=$1 cc=$2 cxx=$3
	shift 3
	$cc $common "$@" -c plain.c -o "$name-plain.o"
	for unit in shapes more; do $cxx $common -fno-rtti "$@" -c $unit.cpp -o "$name-$unit.o"; done
	$link -o "$name" "$name-shapes.o" "$name-plain.o" "$name-more.o"
	keep "$name"
}

keep() {
	objcopy --only-keep-debug -R .comment -R .symtab "$1" "$1.debug" 2>/dev/null || llvm-objcopy --only-keep-debug -R .comment "$1" "$1.debug"
	llvm-objcopy --strip-unneeded --keep-section='.debug_*' --keep-section=.gdb_index "$1.debug" "$here/$1.elf" 2>/dev/null || cp "$1.debug" "$here/$1.elf"
	chmod -x "$here/$1.elf"
}

link="ld --build-id=none -e entry"
for v in 2 3 4 5; do
	build gcc$v gcc g++ -gdwarf-$v
done
build gcc4-64 gcc g++ -gdwarf-4 -gdwarf64
link="$link --gc-sections"
build gcc5-gc gcc g++ -gdwarf-5 -ffunction-sections
link="ld --build-id=none -e entry"
build gcc5-64 gcc g++ -gdwarf-5 -gdwarf64
build gcc4-types gcc g++ -gdwarf-4 -fdebug-types-section
build gcc5-types gcc g++ -gdwarf-5 -fdebug-types-section
for v in 4 5; do
	build gcc$v-split gcc g++ -gdwarf-$v -gsplit-dwarf
	for unit in shapes plain more; do cp gcc$v-split-$unit.dwo "$here"; done
done
dwp -o gcc4-split.dwp gcc4-split-shapes.dwo gcc4-split-plain.dwo gcc4-split-more.dwo && cp gcc4-split.dwp "$here"

for v in 4 5; do # split units with type units
	g++ $common -fno-rtti -gdwarf-$v -gsplit-dwarf -fdebug-types-section -c local.cpp -o gcc$v-local.o
	$link -o gcc$v-local gcc$v-local.o
	keep gcc$v-local
	cp gcc$v-local.dwo "$here"
done
dwp -o gcc4-local.dwp gcc4-local.dwo && cp gcc4-local.dwp "$here"

cp gcc5 gcc5-dwz && cp gcc5 gcc5-other && dwz -m gcc5-alt gcc5-dwz gcc5-other
keep gcc5-dwz
cp gcc5-alt "$here/gcc5-alt.elf"
cp gcc4 gcc4-dwz1 && dwz gcc4-dwz1 && keep gcc4-dwz1

link="ld.lld --build-id=none -e entry"
for v in 2 3 4 5; do
	build clang$v clang clang++ -gdwarf-$v
done
build clang5-64 clang clang++ -gdwarf-5 -gdwarf64
link="ld.lld --build-id=none -e entry --gdb-index"
build clang4-gdb clang clang++ -gdwarf-4 -ggnu-pubnames
link="ld.lld-22 --build-id=none -e entry --debug-names" # lld 14 cannot merge .debug_names
build clang5-names clang clang++ -gdwarf-5 -gpubnames
link="ld.lld --build-id=none -e entry --gc-sections"
build clang4-gc clang clang++ -gdwarf-4 -ffunction-sections
build clang5-gc clang clang++ -gdwarf-5 -ffunction-sections
link="ld.lld --build-id=none -e entry"
for v in 4 5; do
	build clang$v-split clang clang++ -gdwarf-$v -gsplit-dwarf
	for unit in shapes plain more; do cp clang$v-split-$unit.dwo "$here"; done
	llvm-dwp -o clang$v-split.dwp clang$v-split-shapes.dwo clang$v-split-plain.dwo clang$v-split-more.dwo && cp clang$v-split.dwp "$here"
done
# The other byte order, and addresses of 4 bytes.
for cpu in mips64 mips; do
	build clang4-$cpu clang clang++ -gdwarf-4 -target $cpu-linux-gnu
	build clang5-$cpu clang clang++ -gdwarf-5 -target $cpu-linux-gnu
done
link="ld.lld -m elf_i386 --build-id=none -e entry"
build gcc5-i386 gcc g++ -gdwarf-5 -m32 -fno-pic

# Free Pascal, whose debug information has the folder of the source.
mkdir -p /tmp/src && cp "$here/shapes.pas" /tmp/src && cd /tmp/src
for v in 2 3 4; do
	fpc -v0 -gw$v -opascal$v -FE"$work" shapes.pas
	objcopy -w -N '*' -R .debug_frame "$work/pascal$v" && objcopy --only-keep-debug "$work/pascal$v" "$here/pascal$v.elf"
done
rm -r /tmp/src
