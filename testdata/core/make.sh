#!/bin/sh
# Makes the core of crash.c as systemd-coredump keeps it (zstd), the program, and gdb's frames of the core. Needs gcc, gdb,
# zstd, an amd64 Linux that writes cores to the working folder (/proc/sys/kernel/core_pattern: core), and nothing in /tmp/crash.
# The core has the thread's environment, which is empty here, and the path of the program.
set -e
cd "$(dirname "$0")"
mkdir /tmp/crash
cp crash.c /tmp/crash
(cd /tmp/crash && gcc -g -O1 -fno-optimize-sibling-calls -pthread -o crash crash.c) # the folder is in its debug information
objcopy --strip-debug /tmp/crash/crash crash
objcopy --only-keep-debug --compress-debug-sections=zlib /tmp/crash/crash crash.debug
(cd /tmp/crash && ulimit -c unlimited && env -i ./crash) || true
gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'set backtrace past-main on' -ex 'thread apply all -ascending bt' /tmp/crash/crash /tmp/crash/core* 2>/dev/null |
	sed -n 's/^#\([0-9]*\) *0x0*\([0-9a-f]*\) in \([^ ]*\).*/\1 \2 \3/p; s/^\(Thread [0-9]*\).*LWP \([0-9]*\).*/\1 \2/p' >gdb.txt
zstd -q -f -19 /tmp/crash/core* -o core.crash.zst
rm -r /tmp/crash
