package session_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
)

// TestSymOfExports: the symbol file of a PE file with exported names alone names what the program
// names: nothing of a function without a name.
func TestSymOfExports(t *testing.T) {
	for _, name := range []string{"x64", "x64-O0", "x64-seh", "arm64", "arm64-seh", "arm"} {
		data, err := os.ReadFile("../../symfile/pe/testdata/" + name + ".dll")
		if err != nil {
			t.Fatal(err)
		}
		program, err := binary.Open(input.FromBytes(name+".dll", data))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := program.WriteSym(&text, binary.SymOptions{}); err != nil {
			t.Fatal(err)
		}
		sym, err := symfile.Open(input.FromBytes(name+".sym", text.Bytes()), symfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		names, nameless := 0, 0
		for rva := uint64(0x1000); rva < 0x2000; rva++ {
			p, _, err := program.Lookup(rva)
			s, _, err2 := sym.Lookup(rva)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			walker.Best.LimitName(&p, rva)
			walker.Best.LimitName(&s, rva)
			hasName := func(s *symbol.Symbol) bool { return s.Name != "" && s.Extent != symbol.Passed }
			switch {
			case hasName(&p) != hasName(&s), hasName(&p) && (p.Name != s.Name || p.Start != s.Start):
				t.Errorf("%s, 0x%x: %q, extent %d, and with its symbol file %q, extent %d", name, rva, p.Name, p.Extent, s.Name, s.Extent)
			case hasName(&p):
				names++
			default:
				nameless++
			}
		}
		if names == 0 || nameless == 0 || !strings.Contains(text.String(), " <unknown in "+name+".dll>\n") {
			t.Errorf("%s: %d addresses with a name, %d without", name, names, nameless)
		}
	}
}
