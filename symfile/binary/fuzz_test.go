package binary_test

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	files "github.com/crashpane/crashpane/symfile/binary"
)

// exercise calls every method of a file. None may panic, or take longer than the file's size
// allows.
func exercise(data, other []byte, rvas []uint64) {
	f, err := files.Open(input.FromBytes("f", data))
	if err != nil {
		return
	}
	if other != nil {
		f.Attach(input.FromBytes("f.debug", other))
	}
	f.Identity()
	for _, rva := range rvas {
		sym, _, _ := f.Lookup(rva)
		f.SourceSum(rva, sym.File)
		f.SourceLink(sym.File)
		f.FrameData(rva)
		f.Row(rva)
		var p [16]byte
		f.Code(rva, p[:])
	}
	f.Has()
	f.WriteSym(io.Discard, files.SymOptions{})
	f.Warnings()
}

// FuzzBinary opens a file that may be anything, with itself as its debug file, and asks it all that
// there is.
func FuzzBinary(f *testing.F) {
	f.Add([]byte("\x7fELF"), uint64(0x1000), uint64(4))
	for _, name := range []string{moz + "basic.full", moz + "basic.dbg", symbolic + "arm64/cfi_test", made + "stabs/t-stabs32", made + "sframe/arm64be-O2.so",
		samply + "simple-example/out/with-dwo/main"} {
		if b, err := os.ReadFile(filepath.Join(corpusRoot, name)); err == nil {
			f.Add(b, uint64(0x1125), uint64(40))
		}
	}
	for _, name := range []string{"x64.dll", "arm64.dll", "arm.dll", "dwarf.dll"} {
		if b, err := os.ReadFile(filepath.Join(peTraces, name)); err == nil {
			f.Add(b, uint64(0x1004), uint64(8))
		}
	}
	for _, machine := range []string{"x64", "x86"} {
		_, pdb, _ := madePair(f, machine)
		f.Add(pdb, uint64(0x1004), uint64(8))
	}
	for _, name := range []string{"m-x86_64-fp", "m-arm64-nofp"} {
		for _, part := range []string{".dylib", ".dwarf"} {
			f.Add(testfile.Read(f, "../macho/testdata/"+name+part+".gz"), uint64(0x384), uint64(8))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, rva, step uint64) {
		if len(data) > 1<<20 {
			return
		}
		exercise(data, data, []uint64{rva, rva + step, rva + 2*step, 0, ^uint64(0)})
	})
}

// TestDamaged turns bytes of real files over, one place after another, and cuts files off.
func TestDamaged(t *testing.T) {
	corpus(t)
	damage(t, corpusRoot, moz+"basic.full", made+"stabs/t-stabs32", symbolic+"arm64/cfi_test")
}

// TestDamagedPE is TestDamaged for files of Windows.
func TestDamagedPE(t *testing.T) {
	damage(t, peTraces, "x64.dll", "arm64-pac.dll", "arm.dll", "dwarf.dll")
}

// TestDamagedMachO is TestDamaged for programs of Apple's systems with their dSYMs: the one or the
// other is damaged.
func TestDamagedMachO(t *testing.T) {
	for _, name := range []string{"m-x86_64-fp", "m-arm64-nofp"} {
		program, dsym := testfile.Read(t, "../macho/testdata/"+name+".dylib.gz"), testfile.Read(t, "../macho/testdata/"+name+".dwarf.gz")
		damagePair(program[:min(len(program), 6000)], dsym)
		damagePair(program, dsym)
	}
}

// TestDamagedPair is TestDamaged for a program with its PDB: the one or the other is damaged.
func TestDamagedPair(t *testing.T) {
	program, pdb, _ := madePair(t, "x64")
	damagePair(program, pdb)
	damagePair(testfile.Read(t, "../pdb/testdata/links.pdb.gz"), program)
}

// damagePair opens two files that belong together, one of them damaged.
func damagePair(a, b []byte) {
	for _, pair := range [][2][]byte{{a, b}, {b, a}} {
		places := 100
		if runtime.GOOS == "js" { // it is ten times as slow
			places = 10
		}
		whole := pair[0]
		for at := 0; at < len(whole); at += max(1, len(whole)/places) {
			data := append([]byte(nil), whole...)
			data[at] ^= 0xff
			exercise(data, pair[1], []uint64{0x384, 0x1000, 0x1010, 0x1040})
			exercise(pair[1], data, []uint64{0x384, 0x1000, 0x1010, 0x1040})
			exercise(whole[:at], pair[1], []uint64{0x1000})
		}
	}
}

func damage(t *testing.T, root string, names ...string) {
	for _, name := range names {
		whole, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		rvas := []uint64{0x1125, 0x11f0, 0x620, 0x1250, 0x1004}
		places := 150
		if runtime.GOOS == "js" { // it is ten times as slow
			places = 20
		}
		step := max(1, len(whole)/places)
		for at := 0; at < len(whole); at += step {
			exercise(whole[:at], nil, rvas)
			data := append([]byte(nil), whole...)
			data[at] ^= 0xff
			if at+8 < len(data) {
				binary.LittleEndian.PutUint32(data[at+4:], 0x7fffffff)
			}
			exercise(data, whole, rvas)
		}
	}
}
