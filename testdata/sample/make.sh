#!/bin/bash
# Makes the sample again: the program, its crash, its dump and the symbols of all its modules.
#
# Made on Debian 12 (amd64) as root with g++ 12.2.0-14+deb12u1, libc6 and libc6-dbg 2.36-9+deb12u14,
# libstdc++6 12.2.0-14+deb12u1, rustc 1.95.0, the crate minidump-writer 0.13.0, Mozilla's dump_syms 2.3.9
# and, for the golden, minidump-stackwalk 0.26.1:
#
#     apt-get install -y g++ libc6-dbg util-linux
#     cargo install dump_syms --version 2.3.9
#     cargo install minidump-stackwalk --version 0.26.1
#     testdata/sample/make.sh
#
# Every run gives other addresses (and, with other packages, other ids), so dump and symbols are replaced
# together.
set -euo pipefail
umask 022

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
home=/opt/tilecruncher
trap 'rm -rf "$work" "$home"' EXIT
rm -rf "$home"
mkdir -p "$home" "$work/syms"

# The program. Its debug information names its sources /src/tilecruncher/..., wherever this is run.
cd "$here/src"
flags=(-std=c++17 -O1 -g -Wall -Wextra "-ffile-prefix-map=$here/src=/src/tilecruncher" -gno-record-gcc-switches)
g++ "${flags[@]}" -fPIC -shared -Wl,-soname,libtilecodec.so codec.cc -o "$home/libtilecodec.so"
g++ "${flags[@]}" main.cc -o "$home/tilecruncher" -L"$home" -ltilecodec -Wl,-rpath,'$ORIGIN' -pthread

# The dump. The environment is empty but for two neutral values, because a dump holds it; the dump also holds
# /proc/cpuinfo, so a plain one is put in its place for the writer, in a mount namespace of its own.
CARGO_TARGET_DIR="$work/target" cargo build --locked --release --quiet --manifest-path "$here/tools/dumpchild/Cargo.toml"
cp "$work/target/release/dumpchild" "$work/dumpchild"
for cpu in 0 1 2 3; do
    printf 'processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Sample CPU\nstepping\t: 7\n\n' $cpu
done >"$work/cpuinfo"
unshare -m sh -c 'mount --bind "$1" /proc/cpuinfo && cd / && exec env -i PATH=/usr/bin:/bin LANG=C.UTF-8 \
    "$2" "$3" /usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups /opt/tilecruncher/tilecruncher \
    </dev/null >/dev/null 2>/dev/null' sh "$work/cpuinfo" "$work/dumpchild" "$work/tilecruncher.dmp"

# The symbols. The program and its library whole, with inlined functions; of libc the functions and the unwind
# rules, but not the lines, which are most of it. The names of its local functions come from libc6-dbg. Nothing
# of libstdc++ stands on a stack, so it stays without symbols, as some module always does.
dump_syms --inlines "$home/tilecruncher" -o "$work/syms/tilecruncher.sym"
dump_syms --inlines "$home/libtilecodec.so" -o "$work/syms/libtilecodec.so.sym"
libc=/lib/x86_64-linux-gnu/libc.so.6
build_id=$(readelf -n "$libc" | awk '/Build ID/ {print $3}')
dump_syms "$libc" "/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug" -o "$work/full.sym"
grep -E '^(MODULE|INFO|FUNC|PUBLIC|STACK) ' "$work/full.sym" >"$work/syms/libc.so.6.sym"
rm -f "$here"/*.dmp "$here"/*.sym "$here"/*.sym.gz
cp "$work/tilecruncher.dmp" "$here/"
cp "$work/syms/libtilecodec.so.sym" "$here/"
for sym in tilecruncher libc.so.6; do
    gzip -9 -n -c "$work/syms/$sym.sym" >"$here/$sym.sym.gz"
done

# minidump-stackwalk wants a symbol store: NAME/ID/NAME.sym.
for sym in "$work"/syms/*.sym; do
    read -r _ _ _ id name < <(head -n 1 "$sym")
    mkdir -p "$work/store/$name/$id"
    cp "$sym" "$work/store/$name/$id/$name.sym"
done

# What it should show, by another's walker; testdata/sample/README.md says how it is used.
minidump-stackwalk --json --pretty "$here/tilecruncher.dmp" "$work/store" >"$work/golden.json" 2>/dev/null
python3 "$here/tools/golden.py" "$work/golden.json" >"$here/golden.txt"
minidump-stackwalk --human "$here/tilecruncher.dmp" "$work/store" >"${SAMPLE_HUMAN:-/dev/null}" 2>/dev/null
ls -l "$here"
