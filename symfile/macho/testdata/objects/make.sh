#!/bin/sh
# Makes programs without dSYMs, the objects and the library that they are linked from, and what
# llvm-symbolizer says about them with the dSYM that dsymutil makes, with clang, lld and llvm 22.
set -e
compile() { clang-22 --target=$1 -O2 -g -gdwarf-$2 -fdebug-compilation-dir=/src -ffile-prefix-map="$PWD=/src" -funwind-tables -fno-exceptions -c $3 -o $4; }
pack() { tar --owner=0 --group=0 --mtime=@0 --sort=name -cf $1.tar "$@" && gzip -nf9 $1.tar; }
for version in 2 3 4 5; do
  for arch in arm64 x86_64; do
    name=$arch-$version
    compile $arch-apple-macos13 $version a.cc a.o
    compile $arch-apple-macos13 $version b.cc b.o
    compile $arch-apple-macos13 $version lib.c lib.o
    rm -f libx.a
    llvm-ar-22 --format=darwin rcs libx.a lib.o
    ld64.lld-22 -oso_prefix "$PWD/" -arch $arch -platform_version macos 13 13 -dead_strip -o $name -e _main -undefined dynamic_lookup a.o b.o libx.a
    dsymutil-22 $name -o $name.dSYM
    python3 truth.py $name.dSYM/Contents/Resources/DWARF/$name $name > $name.txt
    pack $name a.o b.o libx.a
    rm -r $name $name.dSYM a.o b.o lib.o libx.a
  done
done
for arch in i386 armv7; do
  triple=i386-apple-macosx10.14
  if [ $arch = armv7 ]; then triple=armv7-apple-ios10; fi
  for version in 2 4; do
    name=$arch-$version
    compile $triple $version b.cc b.o
    python3 link.py b.o $name map.yaml $arch-apple-darwin
    dsymutil-22 -y map.yaml -f -o $name.dwarf
    python3 truth.py $name.dwarf $name > $name.txt
    pack $name b.o
    rm $name $name.dwarf b.o map.yaml
  done
done
