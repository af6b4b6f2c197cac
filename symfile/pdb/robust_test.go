package pdb_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// exercise asks a file all that can be asked. It is to end, in time that its size allows, and not
// to panic.
func exercise(data []byte, rvas ...uint64) {
	f, err := pdb.Open(input.FromBytes("f.pdb", data))
	if err != nil {
		return
	}
	for _, rva := range rvas {
		f.Lookup(rva)
		f.FrameData(rva)
	}
	f.Each(func(symbol.Function) error { return nil })
	f.Publics(func(uint64, string) error { return nil })
	f.EachFrameData(func(unwind.FrameData) error { return nil })
	f.Warnings()
}

// FuzzPDB opens a file that may be anything, and asks it all that there is.
func FuzzPDB(f *testing.F) {
	// Small files are mutated faster than those of a linker.
	small := simple()
	f.Add(small.bytes(), uint64(0x1030))
	small.machine, small.frames = 0x14c, make([]byte, 64)
	small.toSource, small.fromSource = [][2]uint32{{0x1000, 0x1000}}, [][2]uint32{{0x1000, 0x1000}}
	f.Add(small.bytes(), uint64(0x1030))
	f.Add(testfile.Read(f, "testdata/x86.pdb.gz"), uint64(0x1030))
	f.Add([]byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, rva uint64) {
		if len(data) < 1<<20 {
			exercise(data, rva, rva+16, 0, ^uint64(0))
		}
	})
}

// TestDamaged turns bytes of files over, one place after another, writes large numbers there, and
// cuts files off.
func TestDamaged(t *testing.T) {
	for _, machine := range machines {
		whole := testfile.Read(t, "testdata/"+machine+".pdb.gz")
		places := 6000
		if runtime.GOOS == "js" || testing.Short() {
			places = 200
		}
		step := max(1, len(whole)/places)
		for at := 0; at+8 < len(whole); at += step {
			if zero := binary.LittleEndian.Uint64(whole[at:]); zero == 0 && at > 8192 {
				continue // free pages
			}
			for _, v := range []uint32{0xffffffff, 0x7fffffff, 0, binary.LittleEndian.Uint32(whole[at:]) + 1} {
				data := append([]byte(nil), whole...)
				binary.LittleEndian.PutUint32(data[at:], v)
				exercise(data, 0x1030, 0x1100)
			}
		}
		for at := 0; at < len(whole); at += 97 {
			exercise(whole[:at], 0x1030)
		}
	}
}
