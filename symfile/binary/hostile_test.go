package binary_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	files "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/elf"
)

// elfFiles are the repository's own ELF files, and those of the corpus that once broke something.
func elfFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../elf/testdata/*.elf", "../dwarf/testdata/*.elf", "../sframe/testdata/oracle/*.elf", "../../testdata/oracle/*.elf", filepath.Join(corpusRoot, "hostile/*.elf")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if st, err := os.Stat(path); err == nil && st.Size() < 200<<10 {
				out = append(out, path)
			}
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d ELF files", len(out))
	}
	return out
}

// tableOf is where a file's section headers are, how large each is, and how many there are (gABI,
// chapter 4).
func tableOf(data []byte) (order binary.ByteOrder, at, size, count int, wide bool) {
	order = binary.LittleEndian
	if data[5] == 2 {
		order = binary.BigEndian
	}
	if data[4] == 2 {
		return order, int(order.Uint64(data[0x28:])), int(order.Uint16(data[0x3a:])), int(order.Uint16(data[0x3c:])), true
	}
	return order, int(order.Uint32(data[0x20:])), int(order.Uint16(data[0x2e:])), int(order.Uint16(data[0x30:])), false
}

// needed are the sections that a symbol file is made of.
var needed = []string{".eh_frame", ".eh_frame_hdr", ".debug_frame", ".sframe", ".ARM.exidx", ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str",
	".symtab", ".strtab", ".gnu_debuglink", ".gnu_debugaltlink", ".gnu_debugdata", ".stab", ".stabstr"}

// TestUnreadableSections moves each section that is needed out of its file: whatever is asked, a
// warning or an error names the section.
func TestUnreadableSections(t *testing.T) {
	tried := map[string]int{}
	for _, path := range elfFiles(t) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(input.FromBytes("f", whole))
		if err != nil {
			continue
		}
		order, at, size, count, wide := tableOf(whole)
		if at <= 0 || at+size*count > len(whole) {
			continue
		}
		before := len(asked(whole))
		for i := range f.Sections {
			s := &f.Sections[i]
			if !slices.Contains(needed, s.Name) || !s.HasBytes() || s.Size == 0 || i >= count {
				continue
			}
			data := bytes.Clone(whole)
			if wide {
				order.PutUint64(data[at+i*size+0x18:], 1<<40)
			} else {
				order.PutUint32(data[at+i*size+0x10:], 1<<30)
			}
			tried[s.Name]++
			got := asked(data)
			if !strings.Contains(got, s.Name) {
				t.Errorf("%s: nothing names %s, which is not in the file (%d bytes of messages, %d before):\n%s", path, s.Name, len(got), before, got)
			}
		}
	}
	for _, name := range []string{".eh_frame", ".eh_frame_hdr", ".debug_frame", ".sframe", ".debug_info", ".symtab"} {
		if tried[name] == 0 {
			t.Errorf("no file has %s", name)
		}
	}
}

// asked asks a file for everything, as dumpsyms, rules and a walk do, and gives all that it says about
// what it could not read.
func asked(data []byte) string {
	f, err := files.Open(input.FromBytes("f", data))
	if err != nil {
		return err.Error()
	}
	var said []string
	fail := func(err error) {
		if err != nil {
			said = append(said, err.Error())
		}
	}
	_, err = f.WriteSym(new(bytes.Buffer), files.SymOptions{})
	fail(err)
	for _, s := range f.UnwindSections() {
		_, err := s.Open()
		fail(err)
	}
	f.Has()
	return strings.Join(append(said, f.Warnings()...), "\n")
}

// TestMutatedHeaders turns over each byte of the headers of sections and of .eh_frame_hdr: nothing
// panics.
func TestMutatedHeaders(t *testing.T) {
	step := 1
	if runtime.GOOS == "js" || testing.Short() { // it is ten times as slow
		step = 13
	}
	for _, path := range elfFiles(t) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(input.FromBytes("f", whole))
		if err != nil {
			continue
		}
		_, at, size, count, _ := tableOf(whole)
		var places []int
		for i := range f.Sections {
			s := &f.Sections[i]
			if i < count && slices.Contains([]string{".eh_frame", ".eh_frame_hdr", ".debug_frame", ".sframe", ".ARM.exidx", ".debug_info"}, s.Name) {
				for k := range size {
					places = append(places, at+i*size+k)
				}
			}
			if s.Name == ".eh_frame_hdr" {
				for k := range min(int(s.Size), 24) {
					places = append(places, int(s.Offset)+k)
				}
			}
		}
		for k := 0; k < len(places); k += step {
			p := places[k]
			if p < 0 || p >= len(whole) {
				continue
			}
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				data := bytes.Clone(whole)
				data[p] ^= flip
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Fatal(fmt.Sprintf("%s, byte 0x%x ^ 0x%02x: %v", path, p, flip, r))
						}
					}()
					asked(data)
				}()
			}
		}
	}
}
