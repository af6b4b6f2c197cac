#!/bin/sh
# make.sh FOLDER: builds server.cc 20 times (two compilers, five levels of optimization, two versions), and lets each build crash by
# 20 causes with changing inputs. FOLDER/dumps gets the cores, cCAUSE-bBUILD.core.gz, FOLDER/programs the builds. TestPurity groups them if
# CRASHPANE_PURITY names the folder. It needs g++, clang++ (19) and a Linux that writes cores to the working folder
# (/proc/sys/kernel/core_pattern: core).
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/dumps" "$1/programs" "$1/run" && cd "$1"
ulimit -c unlimited
build=0
for compiler in "${GCC:-g++}" "${CLANG:-clang++-19}"; do
	for level in -O0 -O1 -O2 -O3 -Os; do
		for version in 1 8; do
			"$compiler" -g $level -DV=$version -w -pthread -Wl,--build-id -o programs/b$build "$here/server.cc"
			for cause in $(seq 0 19); do
				cp programs/b$build run/server
				(cd run && ./server "$cause" $(((build * 7 + cause * 3) % 11)) >/dev/null 2>&1) || true
				if [ -f run/core ]; then # some do not fail in some builds
					gzip -1 <run/core >dumps/c$cause-b$build.core.gz
					rm run/core
				fi
			done
			build=$((build + 1))
		done
	done
done
rm -r run
