#!/bin/sh
# Makes the PDBs and what llvm-symbolizer says about them. Needs clang-19, lld-19 and llvm-19, and may make the folder /src, so that
# the files name no other.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir /src
cp "$here/t.cc" /src
cd /src
for cpu in x86_64:x64 i686:x86 aarch64:arm64; do
  target=${cpu%:*} machine=${cpu#*:}
  clang++-19 --target=$target-pc-windows-msvc -O2 -g -gcodeview -gno-codeview-command-line -fno-rtti -fno-exceptions \
    -fno-stack-protector -mno-stack-arg-probe -c /src/t.cc -o t.obj
  lld-link-19 /nodefaultlib /dll /noentry /debug /brepro /pdbaltpath:$machine.pdb /machine:$machine /out:$machine.dll /pdb:$machine.pdb t.obj
  # Every address of the code, as far as it has a name.
  addresses=$(for i in $(seq 4096 4700); do printf '0x%x ' "$i"; done)
  llvm-symbolizer-19 --obj=$machine.dll --relative-address --no-demangle --output-style=JSON $addresses | gzip -9n > "$here/$machine.json.gz"
  gzip -9nc $machine.pdb > "$here/$machine.pdb.gz"
  if [ $machine = x64 ]; then # one that says where the source is, as Microsoft's linker does with /SOURCELINK
    echo '{"documents": {"/src/*": "https://raw.githubusercontent.com/example/t/c0ffee/src/*"}}' > documents.json
    lld-link-19 /nodefaultlib /dll /noentry /debug /brepro /machine:$machine /out:links.dll /pdb:links.pdb '/pdbstream:sourcelink$1=documents.json' t.obj
    gzip -9nc links.pdb > "$here/links.pdb.gz"
  fi
done
rm -r /src
