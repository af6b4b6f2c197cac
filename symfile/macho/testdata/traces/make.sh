#!/bin/sh
# Makes pac-arm64e, which signs its return addresses, with clang and lld 22, and its trace: see README.md.
set -e
clang-22 --target=arm64e-apple-macos13 -O2 -fptrauth-returns -fswift-async-fp=always -funwind-tables -fno-stack-protector -c pac.c -o pac.o
ld64.lld-22 -arch arm64e -platform_version macos 13 13 -dylib -undefined dynamic_lookup -install_name /usr/local/lib/pac.dylib -o pac-arm64e pac.o
python3 trace.py pac-arm64e -f 100 -r 40 -d 3 -o pac-arm64e.json.gz
gzip -nf9 pac-arm64e
rm pac.o
