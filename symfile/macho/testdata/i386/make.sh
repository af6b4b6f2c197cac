#!/bin/sh
# Makes a macOS program for i386 and two dSYMs of it: right.dwarf as clang and dsymutil 22 write it, and
# swapped.dwarf, in whose .debug_frame 4 is ebp and 5 is esp, as an older clang wrote it.
set -e
clang-22 --target=i386-apple-macosx10.14 -g -fdebug-compilation-dir=/src -O1 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-exceptions -fno-stack-protector -c t.c -o t.o
cat > map.yaml <<END
---
triple: 'i386-apple-darwin'
objects:
  - filename: 't.o'
    timestamp: 0
    symbols:
      - { sym: _causeCrash, objAddr: 0x0, binAddr: 0x2930, size: 0x4f }
      - { sym: _crash, objAddr: 0x50, binAddr: 0x2F00, size: 0x69 }
END
dsymutil-22 -y map.yaml -f -o t.dwarf
python3 make.py
rm t.o t.dwarf map.yaml
gzip -nf9 BreakpadTest right.dwarf swapped.dwarf
