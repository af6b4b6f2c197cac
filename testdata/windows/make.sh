#!/bin/sh
# Makes the program, its PDB and its dumps. Needs clang-19, lld-19 and gcab (Debian) and the Python package unicorn, and may make the folder /src, so
# that the files name no other.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir /src
trap 'rm -r /src' EXIT
cp "$here/app.c" /src
cd /src
clang-19 --target=x86_64-pc-windows-msvc -O2 -g -gcodeview -gno-codeview-command-line -fno-stack-protector -mno-stack-arg-probe -c /src/app.c -o app.obj
lld-link-19 /nodefaultlib /entry:start /subsystem:console /debug /brepro /nologo /pdbaltpath:app.pdb /machine:x64 /out:app.exe /pdb:app.pdb app.obj
python3 "$here/dump.py" app.exe "$here/app.dmp" "$here/app-full.dmp" | tee "$here/golden.txt"
cp app.exe "$here"
gzip -9nc app.pdb > "$here/app.pdb.gz"
touch -d "2024-01-01 UTC" app.pdb
gcab -c -z -n "$here/app.pd_" app.pdb
