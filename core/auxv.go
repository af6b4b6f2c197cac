package core

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// AuxEntry is an entry of the auxiliary vector, which the kernel hands to a program at its start
// (getauxval(3)).
type AuxEntry struct{ Type, Value uint64 }

// auxNames are the AT_ constants of the kernel's include/uapi/linux/auxvec.h and of the
// architectures' asm/auxvec.h.
var auxNames = map[uint64]string{
	0: "AT_NULL", 1: "AT_IGNORE", 2: "AT_EXECFD", 3: "AT_PHDR", 4: "AT_PHENT", 5: "AT_PHNUM", 6: "AT_PAGESZ", 7: "AT_BASE",
	8: "AT_FLAGS", 9: "AT_ENTRY", 10: "AT_NOTELF", 11: "AT_UID", 12: "AT_EUID", 13: "AT_GID", 14: "AT_EGID", 15: "AT_PLATFORM",
	16: "AT_HWCAP", 17: "AT_CLKTCK", 18: "AT_FPUCW", 19: "AT_DCACHEBSIZE", 20: "AT_ICACHEBSIZE", 21: "AT_UCACHEBSIZE",
	22: "AT_IGNOREPPC", 23: "AT_SECURE", 24: "AT_BASE_PLATFORM", 25: "AT_RANDOM", 26: "AT_HWCAP2", 27: "AT_RSEQ_FEATURE_SIZE",
	28: "AT_RSEQ_ALIGN", 29: "AT_HWCAP3", 30: "AT_HWCAP4", 31: "AT_EXECFN", 32: "AT_SYSINFO", 33: "AT_SYSINFO_EHDR",
	34: "AT_L1I_CACHESHAPE", 35: "AT_L1D_CACHESHAPE", 36: "AT_L2_CACHESHAPE", 37: "AT_L3_CACHESHAPE", 40: "AT_L1I_CACHESIZE",
	41: "AT_L1I_CACHEGEOMETRY", 42: "AT_L1D_CACHESIZE", 43: "AT_L1D_CACHEGEOMETRY", 44: "AT_L2_CACHESIZE",
	45: "AT_L2_CACHEGEOMETRY", 46: "AT_L3_CACHESIZE", 47: "AT_L3_CACHEGEOMETRY", 51: "AT_MINSIGSTKSZ",
}

// Name returns the type's name in the kernel's headers, or "AT_<number>".
func (e AuxEntry) Name() string {
	if n := auxNames[e.Type]; n != "" {
		return n
	}
	return fmt.Sprintf("AT_%d", e.Type)
}

// maxAux bounds the vector; the kernel writes some 20 entries, and /proc/PID/auxv has room for a
// page.
const maxAux = 4096

// wordSize returns the size of the process' words in bytes: that of its CPU, 8 if it is not known.
func (d *Dump) wordSize() int64 {
	if a := d.Arch(); a != nil {
		return int64(a.WordSize)
	}
	return 8
}

// word reads a word of 4 or 8 bytes.
func word(c *input.Cursor, size int64) uint64 {
	if size == 4 {
		return uint64(c.U32())
	}
	return c.U64()
}

// decodeLinuxAuxv reads pairs of words. Whatever follows AT_NULL has no meaning. Sentry's writer had
// the number of this stream for the memory maps from 0.13.3 to 0.14.0.
func decodeLinuxAuxv(d *Dump, s *Stream, c *input.Cursor) {
	const longest = 512 // more than a line without its path
	head, _ := d.Src.Bytes(int64(s.Loc.Off), min(int64(s.Loc.Size), longest))
	line, _, _ := strings.Cut(string(head), "\n")
	if _, ok := parseMapping(line); ok {
		decodeLinuxMaps(d, s, c)
		return
	}
	d.Linux.Auxv = s.Loc
	w := d.wordSize()
	for c.Left() >= 2*w && len(d.Linux.Aux) < maxAux {
		e := AuxEntry{word(c, w), word(c, w)}
		if c.Err() != nil || e.Type == 0 {
			break
		}
		d.Linux.Aux = append(d.Linux.Aux, e)
	}
	c.Skip(c.Left())
}

// AuxValue returns the value of an entry of the auxiliary vector by its name ("AT_ENTRY"); false if
// it is not there.
func (l *Linux) AuxValue(name string) (uint64, bool) {
	for _, e := range l.Aux {
		if e.Name() == name {
			return e.Value, true
		}
	}
	return 0, false
}

// LinuxDebug is stream 0x4767000A: the dynamic linker's r_debug and its list of modules, and the
// program's dynamic section.
type LinuxDebug struct {
	Version uint32
	// Break is the function that the linker calls at each change, LDBase the linker's address,
	// Dynamic where the program's dynamic section does.
	Break, LDBase, Dynamic uint64
	Modules                []LinkMap
	Entries                []DynamicEntry
}

// LinkMap is a module as the dynamic linker knows it. Addr is what is added to the file's
// addresses.
type LinkMap struct {
	Addr, Dynamic uint64
	Name          string
}

// DynamicEntry is an entry of the program's dynamic section (ELF, "Dynamic Section").
type DynamicEntry struct{ Tag, Value uint64 }

// dsoLayout is one of the three forms of the stream: sizes in bytes, and the padding after the
// third field and after a link map's name. Breakpad's structures are not packed (minidump_format.h:
// MDRawDebug32, MDRawDebug64), so 64-bit writers put padding in; the minidump-writer crate packs
// them.
type dsoLayout struct{ word, header, headerPad, entry, entryPad int64 }

var (
	dso32       = dsoLayout{4, 24, 0, 12, 0}
	dso64       = dsoLayout{8, 40, 4, 24, 4}
	dso64Packed = dsoLayout{8, 36, 0, 20, 0}
)

// dsoForm recognizes the form: the header is followed by the dynamic section, pairs of words.
func dsoForm(word int64, size uint64) dsoLayout {
	switch {
	case word == 4:
		return dso32
	case size%16 == 4:
		return dso64Packed
	}
	return dso64
}

// decodeLinuxDSODebug reads
//
//	version u32 · map Rva u32 · dso_count u32 · padding · brk word · ldbase word · dynamic word · the dynamic section
//	map: addr word · name Rva u32 · padding · ld word
func decodeLinuxDSODebug(d *Dump, s *Stream, c *input.Cursor) {
	l := dsoForm(d.wordSize(), s.Loc.Size)
	i := &LinuxDebug{Version: c.U32()}
	at, count := c.U32(), int64(c.U32())
	c.Skip(l.headerPad)
	i.Break, i.LDBase, i.Dynamic = word(c, l.word), word(c, l.word), word(c, l.word)
	if c.Err() != nil {
		return
	}
	d.Linux.Debug = i
	for c.Left() >= 2*l.word && len(i.Entries) < maxTextFields {
		i.Entries = append(i.Entries, DynamicEntry{word(c, l.word), word(c, l.word)})
	}
	if at == 0 || count == 0 {
		return
	}
	m := input.NewCursor(d.Src, s.Type.part()+", link map", int64(at), d.Src.Size-int64(at), d.Header.Order)
	if at := int64(at); at > d.Src.Size {
		d.remark(Bad, s.Type, at, "a link map", fmt.Sprintf("a file of %d bytes", d.Src.Size))
		return
	}
	for range d.fit(s, m, count, l.entry, maxModules) {
		e := LinkMap{Addr: word(m, l.word)}
		name := m.U32()
		m.Skip(l.entryPad)
		e.Dynamic = word(m, l.word)
		if m.Err() != nil {
			break
		}
		e.Name = strings.TrimRight(d.stringAt(s.Type, FileOff(name), "name in the link map"), "\x00")
		i.Modules = append(i.Modules, e)
	}
	d.diagnose(Bad, s.Type, m.Err())
}
