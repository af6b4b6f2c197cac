#!/bin/sh
# make.sh FOLDER: crashes programs of C++, Rust, Go, JavaScript, Python and Java in many ways, and has LLDB write a dump of each, with the programs and
# libraries next to them. TestVerdicts compares their first lines if CRASHPANE_CRASHES names the folder. It needs g++, rustc, go,
# node (20), a JDK (17), Debian's python3 (3.11) and lldb (lldb-22), and an amd64 Linux.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/lib" && cd "$1"
g++ -g -O1 -D_FORTIFY_SOURCE=2 -fstack-protector-all -w -o k "$here/k.cc"
rustc -g -O -C panic=abort --crate-name r -o ra "$here/r.rs"
rustc -g -O --crate-name r -o ru "$here/r.rs"
rustc -g -C opt-level=1 -C panic=abort -C overflow-checks=on --crate-name r -o rd "$here/r.rs"
go build -o g "$here/g.go"
ldd k | awk '$2 == "=>" { print $3 }' | xargs -I{} cp -L {} lib/
export GOTRACEBACK=crash
style=stack suffix= script= quiet=
dump() { # program, ways to crash
	program=$1
	shift
	for way in "$@"; do
		timeout 60 "${LLDB:-lldb-22}" -b -o 'settings set target.load-cwd-lldbinit false' -o 'process launch -s' \
			-o "process handle SIGURG SIGCONT SIGCHLD $quiet -s false -p true -n false" -o continue \
			-k "process save-core --plugin-name=minidump --style=$style $program-$way$suffix.dmp" -k kill -- "./$program" $script "$way" >/dev/null 2>&1 </dev/null || true
	done
}
dump k throw throwmy throwint throwstr throwstring throwplain noexcept terminate rethrow at thread syserr assert smash stack watchdog queue dblfree badfree tcache pure \
	fortify abort hlt in rdmsr int ud2 nxstack nxheap nxdata so1 so2 null raise kill ro div
dump ra panic lit unwrap expect index div str capacity abort refcell assert unreachable extern slice hash thread so
dump ru extern drop
dump rd overflow panic alloc
dump g panic err index nil map div deadlock unlock so type close
cp -L "$(command -v node)" node
script=$here/n.js
export NODE_OPTIONS="--abort-on-uncaught-exception --max-old-space-size=20"
dump node abort oom throw check
unset NODE_OPTIONS
ln -sf "$(readlink -f /usr/bin/python3)" python
script=$here/p.py
dump python abort fatal raise
java=$(readlink -f "$(command -v java)")
ln -sf "$java" java
cp "$(dirname "$java")"/../lib/server/libjvm.so "$(dirname "$java")"/../lib/libjli.so lib/
script=$here/J.java quiet=SIGSEGV # which the Java VM handles
export JDK_JAVA_OPTIONS="-XX:+CrashOnOutOfMemoryError -Xmx64m"
dump java oom put
unset JDK_JAVA_OPTIONS
script= quiet=
# With all memory: what the runtimes say.
style=full suffix=-full
dump k throwmy throwint throwstring at assert badfree fortify so1 so2
