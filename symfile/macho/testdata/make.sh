#!/bin/sh
# Makes the Mach-O files and dSYMs of this folder with clang, lld and llvm 22.
set -e
for arch in arm64 x86_64; do
  for fp in fp nofp; do
    omit=; [ $fp = nofp ] && omit=-fomit-frame-pointer
    name=m-$arch-$fp
    clang-22 --target=$arch-apple-macos13 -O2 -g -fdebug-compilation-dir=/src -funwind-tables -fno-stack-protector $omit -c m.c -o m.o
    ld64.lld-22 -oso_prefix "$PWD/" -arch $arch -platform_version macos 13 13 -dylib -undefined dynamic_lookup -install_name /usr/local/lib/$name.dylib -o $name.dylib m.o
    dsymutil-22 $name.dylib -o $name.dSYM
    mv $name.dSYM/Contents/Resources/DWARF/$name.dylib $name.dwarf
    llvm-objdump-22 --unwind-info $name.dylib | sed -n '/Contents of/,$p' > $name.unwind.txt
    llvm-nm-22 -n --defined-only $name.dylib > $name.names.txt
    rm -r m.o $name.dSYM
    gzip -nf9 $name.dylib $name.dwarf
  done
done
