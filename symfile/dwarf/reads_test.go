package dwarf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestReads: a lookup in a large file reads the units' first entries once, and then little more
// than what describes the function that it hits, whatever the size of the file.
func TestReads(t *testing.T) {
	const units, functions = 100, 200
	var abbrev bits
	abbrev.decl(1, 0x11, 1, 0x25, 8, 0x11, 1, 0x12, 7, 0x13, 0x0b)
	abbrev.decl(2, 0x2e, 1, 1, 0x13, 3, 8, 0x11, 1, 0x12, 7)
	abbrev.decl(3, 5, 0, 3, 8)
	abbrev.leb(0)
	filler := strings.Repeat("x", 3000)
	for _, producer := range []string{"GNU C++", "clang"} {
		var info []byte
		for i := range uint64(units) {
			low := 0x1000 + i*functions*16
			var b bits
			b.leb(1)
			b.text(producer)
			b.u(8, low)
			b.u(8, functions*16)
			b.u(1, 4)
			for j := range uint64(functions) {
				b.leb(2)
				sibling := len(b)
				b.u(4, 0)
				b.text(fmt.Sprintf("f%d_%d", i, j))
				b.u(8, low+16*j)
				b.u(8, 16)
				b.leb(3)
				b.text(filler)
				b.leb(0)
				binary.LittleEndian.PutUint32(b[sibling:], uint32(len(b)+11))
			}
			b.leb(0)
			info = append(info, unit4(0, b)...)
		}
		c := &counted{r: bytes.NewReader(info)}
		s := made{".debug_abbrev": abbrev}.sections(binary.LittleEndian)
		get := s.Get
		s.Get = func(name string) (*input.Source, error) {
			if name == ".debug_info" {
				return input.New(name, c, int64(len(info))), nil
			}
			return get(name)
		}
		d, err := Open(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		unit := int64(len(info) / units)
		most := int64(2*units*512) + unit
		for _, i := range []uint64{50, 3, 99} {
			before := c.bytes
			sym, ans, err := d.Lookup(0x1000 + (i*functions+77)*16 + 5)
			if want := fmt.Sprintf("f%d_77", i); ans != symbol.Yes || err != nil || sym.Name != want {
				t.Fatalf("%s: %+v, %v, %v, want %s", producer, sym, ans, err, want)
			}
			read := c.bytes - before
			t.Logf("%s: %d KB of %d KB read, a unit has %d KB", producer, read>>10, len(info)>>10, unit>>10)
			if read > most {
				t.Errorf("%s: %d bytes read, want at most %d", producer, read, most)
			}
			most = unit + 4096
			if producer == "GNU C++" { // of the unit, too, the functions' first bytes
				most = unit * 2 / 5
			}
		}
	}
}
