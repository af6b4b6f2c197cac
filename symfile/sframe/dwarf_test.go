package sframe

import (
	"debug/elf"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// TestAgainstDWARF opens the .eh_frame and the .sframe of the same code and compares the rules of
// the CFA, the return address and the frame pointer at every address that both cover, outside of
// .plt and .plt.got.
func TestAgainstDWARF(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpusRoot, "*.sframe.json"))
	for i, p := range files {
		files[i] = p[:len(p)-len(".sframe.json")]
	}
	if len(files) == 0 {
		t.Log("*** SKIPPED: there is no corpus next to the repository; only the oracle's programs are compared")
	}
	for _, tc := range oracles {
		files = append(files, filepath.Join("testdata", "oracle", tc.elf+".elf"))
	}
	for _, p := range files {
		t.Run(filepath.Base(p), func(t *testing.T) { againstDWARF(t, p) })
	}
}

// cut is a section of a file, and its link-time address.
func cut(t *testing.T, f *elf.File, name string) (*input.Source, uint64) {
	t.Helper()
	s := f.Section(name)
	if s == nil {
		return nil, 0
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return input.FromBytes(name, data), s.Addr
}

func againstDWARF(t *testing.T, path string) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section, address := cut(t, f, SectionName)
	opened, err := Open(section, address, Config{})
	if err != nil {
		t.Fatal(err)
	}
	arch := opened.(*table).arch
	eh, ehAddress := cut(t, f, ".eh_frame")
	hdr, hdrAddress := cut(t, f, ".eh_frame_hdr")
	dwarf, err := dwarfcfi.EHFrame(eh, ehAddress, hdr, hdrAddress, dwarfcfi.Config{Arch: arch, Order: f.ByteOrder, AddressSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	compared, only := 0, 0
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Name == ".plt" || s.Name == ".plt.got" {
			continue
		}
		for pc := s.Addr; pc < s.Addr+s.Size; pc++ {
			d, inDWARF, err := dwarf.Row(pc)
			if err != nil {
				t.Fatal(err)
			}
			r, ok, err := opened.Row(pc)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if inDWARF {
					only++
				}
				continue
			}
			compared++
			if !inDWARF || !sameRules(arch, &r, &d) {
				t.Fatalf("%x: .sframe has %s\n.eh_frame %v %s", pc, r.Describe(arch), inDWARF, d.Describe(arch))
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d addresses compared", compared)
	}
	t.Logf("%d addresses compared; %d have rules in .eh_frame only", compared, only)
}

// sameRules: the rules that SFrame has are those of another row.
func sameRules(arch *cpu.Arch, r, d *unwind.Row) bool {
	saved := func(row *unwind.Row, reg cpu.Reg) unwind.Rule {
		for _, s := range row.Saved {
			if s.Reg == reg && s.Rule.Kind != unwind.Unset && s.Rule.Kind != unwind.Same {
				return s.Rule
			}
		}
		return unwind.Rule{Kind: unwind.Same}
	}
	// The caller's sp is the CFA, or is below it where DWARF may also say in which word or
	// register it was kept.
	sp := saved(r, arch.SP).Equal(unwind.Rule{Kind: unwind.Same})
	if arch.CFABias != 0 {
		sp = saved(r, arch.SP).Equal(unwind.Rule{Kind: unwind.FromCFA, Offset: -arch.CFABias})
	}
	return r.CFA.Equal(d.CFA) && r.RA.Equal(d.RA) && saved(r, arch.FP).Equal(saved(d, arch.FP)) && r.Signed == d.Signed && r.Signal == d.Signal && r.Outermost == d.Outermost && sp
}
