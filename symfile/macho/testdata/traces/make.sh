#!/bin/sh
# Makes pac-arm64e, which signs its return addresses, and outlined-arm64_32 with clang and lld 22, and
# their traces: see README.md.
set -e
clang-22 --target=arm64e-apple-macos13 -O2 -fptrauth-returns -fswift-async-fp=always -funwind-tables -fno-stack-protector -c pac.c -o pac.o
ld64.lld-22 -arch arm64e -platform_version macos 13 13 -dylib -undefined dynamic_lookup -install_name /usr/local/lib/pac.dylib -o pac-arm64e pac.o
python3 trace.py pac-arm64e -f 100 -r 40 -d 3 -o pac-arm64e.json.gz
clang-22 --target=arm64_32-apple-watchos8 -Oz -funwind-tables -fno-stack-protector -c outlined.c -o outlined.o
ld64.lld-22 -arch arm64_32 -platform_version watchos 8 8 -dylib -undefined dynamic_lookup -install_name /usr/local/lib/outlined.dylib -o outlined-arm64_32 outlined.o
python3 trace.py outlined-arm64_32 -f 100 -r 40 -d 3 -o outlined-arm64_32.json.gz
gzip -nf9 pac-arm64e outlined-arm64_32
rm pac.o outlined.o
