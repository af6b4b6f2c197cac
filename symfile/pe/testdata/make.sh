#!/bin/sh
# Makes the PE files here with clang and lld-link 19 (Debian: clang-19, lld-19), and by trace.py (Python's unicorn) for each what the
# processor did at every instruction (NAME.json.gz).
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf 'LIBRARY t\nEXPORTS\n run\n many @7 NONAME\n elsewhere=other.function\n' > "$tmp/t.def"

# make NAME TARGET MACHINE FLAGS…: a library without a C runtime, of $source. /Brepro puts a hash in place of the time.
make() {
	name=$1 target=$2 machine=$3
	shift 3
	clang-19 --target="$target" -fno-stack-protector -ffile-prefix-map="$PWD"=. "$@" -c "$source" -o "$tmp/$name.obj"
	lld-link-19 /nodefaultlib /dll /noentry /Brepro /nologo /pdbaltpath:t.pdb $link "/machine:$machine" "/def:$def" "/implib:$tmp/t.lib" \
		"/pdb:$tmp/t.pdb" "/out:$name.dll" "$tmp/$name.obj"
}

source=t.c def=$tmp/t.def link=/debug
make x64 x86_64-pc-windows-msvc x64 -O2 -gcodeview
make arm64 aarch64-pc-windows-msvc arm64 -O2 -gcodeview
make x64-O0 x86_64-pc-windows-msvc x64 -O0 -gcodeview
make arm64-O0 aarch64-pc-windows-msvc arm64 -O0 -gcodeview
make arm-O0 thumbv7-pc-windows-msvc arm -O0 -gcodeview
make arm64-pac aarch64-pc-windows-msvc arm64 -Os -gcodeview -mbranch-protection=pac-ret
make arm thumbv7-pc-windows-msvc arm -O2 -gcodeview
# What unwinds x86 is in the PDB, which names folders: all that belongs to it is made in /src.
here=$PWD
keep() {
	name=$1
	shift
	mkdir /src
	cp "$source" "$def" /src
	(
		cd /src
		clang-19 --target=i686-pc-windows-msvc -fno-stack-protector -g -gcodeview -gno-codeview-command-line "$@" -c "/src/$source" -o t.obj
		lld-link-19 /nodefaultlib /dll /noentry /Brepro /nologo /pdbaltpath:t.pdb /debug /machine:x86 "/def:$(basename "$def")" /pdb:t.pdb "/out:$name.dll" t.obj
		cp "$name.dll" "$here"
		gzip -9nc t.pdb > "$here/$name.pdb.gz"
	)
	rm -r /src
}
keep x86-O0 -O0
keep x86 -O2
printf 'LIBRARY t\nEXPORTS\n run\n' > "$tmp/s.def"
source=s.c def=$tmp/s.def
make x64-seh x86_64-pc-windows-msvc x64 -O2 -gcodeview -fms-extensions
make x64-seh-O0 x86_64-pc-windows-msvc x64 -O0 -gcodeview -fms-extensions
make arm64-seh aarch64-pc-windows-msvc arm64 -O2 -gcodeview -fms-extensions
make arm64-seh-O0 aarch64-pc-windows-msvc arm64 -O0 -gcodeview -fms-extensions
keep x86-aligned -O2 -mno-stack-arg-probe
keep x86-aligned-O0 -O0 -mno-stack-arg-probe
make arm-aligned thumbv7-pc-windows-msvc arm -O2 -gcodeview -mno-stack-arg-probe
source=t.c def=$tmp/t.def link=/debug:dwarf,symtab
make dwarf x86_64-pc-windows-msvc x64 -O2 -gdwarf-5

# ARM64EC next to x64, which lld links since version 20. The emulator runs the function behind the thunk of the export.
if command -v lld-link-22 > /dev/null; then
	clang-19 --target=arm64ec-pc-windows-msvc -O2 -fno-stack-protector -mno-stack-arg-probe -c ec.c -o "$tmp/ec.obj"
	clang-19 --target=arm64ec-pc-windows-msvc -c ecload.s -o "$tmp/ecload.obj"
	clang-19 --target=x86_64-pc-windows-msvc -O2 -fno-stack-protector -c ecx64.c -o "$tmp/ecx64.obj"
	lld-link-22 /nodefaultlib /dll /noentry /Brepro /nologo /machine:arm64ec "/implib:$tmp/t.lib" /out:arm64ec.dll "$tmp/ec.obj" "$tmp/ecx64.obj" "$tmp/ecload.obj"
	run=$(llvm-readobj-19 --coff-load-config arm64ec.dll | sed -n '/RedirectionMetadata/,/]/s/.*-> //p' | tail -1)
	python3 trace.py arm64ec.dll arm64ec.json.gz 0xaa64 "$run"
fi

# MinGW (Debian: gcc-mingw-w64).
for bits in 64 32; do
	arch=x86_64
	[ $bits = 32 ] && arch=i686
	command -v $arch-w64-mingw32-gcc > /dev/null || continue
	$arch-w64-mingw32-gcc -O2 -g -shared -nostdlib -fno-stack-protector -mno-stack-arg-probe -ffile-prefix-map="$PWD"=. -Wl,--no-insert-timestamp -o mingw$bits.dll mingw.c
	python3 trace.py mingw$bits.dll mingw$bits.json.gz
done

# MinGW programs and their separate debug files, with and without a build id. The debug link has the debug file's name, so they keep theirs.
for bits in 64 32; do
	arch=x86_64 entry=start
	[ $bits = 32 ] && arch=i686 entry=_start
	command -v $arch-w64-mingw32-gcc > /dev/null || continue
	for id in "" -id; do
		name=split$bits$id.exe
		SOURCE_DATE_EPOCH=1700000000 $arch-w64-mingw32-gcc -g -Os -nostdlib -nostartfiles -ffile-prefix-map="$PWD"=/src -Wl,-e,$entry ${id:+-Wl,--build-id} -o $name split.c
		$arch-w64-mingw32-objcopy --only-keep-debug $name $name.debug
		$arch-w64-mingw32-strip -s $name
		$arch-w64-mingw32-objcopy --add-gnu-debuglink=$name.debug $name
	done
done

for name in x64 x64-O0 x64-seh x64-seh-O0 arm64 arm64-O0 arm64-pac arm64-seh arm64-seh-O0 arm arm-O0 arm-aligned x86 x86-O0 x86-aligned x86-aligned-O0; do
	python3 trace.py $name.dll $name.json.gz
done
