package elfcore

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// A core need not have a list of mapped files: kernels write one since Linux 3.7, and qemu's emulator of
// processes does not. Then modules are the programs whose ELF header a segment begins with, and those
// that the dynamic linker lists:
//
//	AT_PHDR ─► the program's headers ─► PT_DYNAMIC ─► DT_DEBUG ─► r_debug ─► link_map ─► link_map …
//	r_debug:  r_version int, padding · r_map word
//	link_map: l_addr, l_name, l_ld, l_next, l_prev words (glibc's elf/link.h; musl and bionic have the same)

const (
	maxLinks = 10_000 // programs
	maxPath  = 4096   // bytes of a name (PATH_MAX)

	segmentDynamic = 2 // p_type
	segmentInterp  = 3
	segmentPhdr    = 6

	dynamicDebug   = 21         // d_tag: DT_DEBUG
	dynamicMIPS    = 0x70000016 // DT_MIPS_RLD_MAP: where the pointer is
	dynamicMIPSRel = 0x70000035 // DT_MIPS_RLD_MAP_REL: the same, from the entry on
)

// linked is an entry of the dynamic linker's list.
type linked struct {
	base, dynamic uint64 // base is what is added to the file's addresses
	path          string
}

// filesOfMemory makes the list of mapped files of the memory.
func (r *reader) filesOfMemory() {
	vdso, _ := r.dump.Linux.AuxValue("AT_SYSINFO_EHDR")
	for i := range r.segments {
		s := &r.segments[i]
		if s.kind != segmentLoad || s.inFile < 16 || s.address == vdso || len(r.files) == maxLinks {
			continue
		}
		head, err := r.src.Bytes(int64(s.offset), 4)
		if err != nil || string(head) != "\x7fELF" {
			r.needed(err)
			continue
		}
		if m, ok := r.module("", s.address, s.address+s.memory, false); ok {
			r.files = append(r.files, mapped{start: m.Base, end: m.Base + m.Size})
		}
	}
	program, interpreter := r.program()
	headers, _ := r.dump.Linux.AuxValue("AT_PHDR")
	loader, _ := r.dump.Linux.AuxValue("AT_BASE")
	for _, l := range r.links(program) {
		f := r.fileWith(l.dynamic)
		if f == nil {
			// The linker's base of a program at fixed addresses is 0; its headers follow its ELF header.
			if l.base == 0 {
				l.base = headers &^ 0xfff
			}
			m := r.mapping(l.dynamic)
			if m == nil || m.End <= l.base || r.mapping(l.base) == nil {
				continue
			}
			r.files = append(r.files, mapped{start: l.base, end: m.End})
			f = &r.files[len(r.files)-1]
		}
		f.path = l.path
	}
	if m := r.mapping(headers); m != nil && r.fileWith(headers) == nil {
		// The core has neither header nor list of the program that was started: it is what is mapped from there on
		// without a gap.
		end := m.End
		for next := r.mapping(end); next != nil && next.Start == end; next = r.mapping(end) {
			end = next.End
		}
		r.files = append(r.files, mapped{start: headers &^ 0xfff, end: end})
	}
	if f := r.fileWith(headers); f != nil && f.path == "" {
		at, _ := r.dump.Linux.AuxValue("AT_EXECFN")
		f.path = cmp.Or(r.text(at), r.processName)
	}
	if f := r.fileWith(loader); f != nil && loader != 0 {
		f.path = cmp.Or(f.path, interpreter)
	}
	slices.SortStableFunc(r.files, func(a, b mapped) int { return cmp.Compare(a.start, b.start) })
}

// fileWith returns the file that has an address, of a list that is not sorted yet.
func (r *reader) fileWith(address uint64) *mapped {
	for i := range r.files {
		if f := &r.files[i]; f.start <= address && address < f.end {
			return f
		}
	}
	return nil
}

// program finds the dynamic section of the program that was started, or 0, and the path of its dynamic linker.
func (r *reader) program() (dynamic uint64, interpreter string) {
	l := &r.dump.Linux
	at, _ := l.AuxValue("AT_PHDR")
	count, _ := l.AuxValue("AT_PHNUM")
	region, ok := r.dump.Memory.Region(at)
	if !ok || at == 0 {
		return 0, ""
	}
	c := input.NewCursor(r.src, "program headers in memory", int64(region.Loc.Off)+int64(at-region.Start), int64(region.End()-at), r.order)
	var headers []segment
	for range min(count, maxImageSegments) {
		s := r.segment(c)
		if c.Err() != nil {
			r.needed(c.Err())
			break
		}
		headers = append(headers, s)
	}
	bias := uint64(0)
	for _, s := range headers {
		if s.kind == segmentPhdr {
			bias = at - s.address
		}
	}
	for _, s := range headers {
		switch s.kind {
		case segmentDynamic:
			dynamic = bias + s.address
		case segmentInterp:
			interpreter = r.text(bias + s.address)
		}
	}
	return dynamic, interpreter
}

// links reads the dynamic linker's list, which the program's dynamic section leads to.
func (r *reader) links(dynamic uint64) (out []linked) {
	size := uint64(r.wordSize())
	word := func(at uint64) uint64 {
		v, _ := r.dump.Memory.Word(at, int(size))
		return v
	}
	list := uint64(0) // the r_debug
	for at, n := dynamic, 0; dynamic != 0 && list == 0 && n < maxImageSegments; at, n = at+2*size, n+1 {
		switch tag, value := word(at), word(at+size); tag {
		case 0:
			n = maxImageSegments // the end, or no memory
		case dynamicDebug:
			list = value
		case dynamicMIPS:
			list = word(value)
		case dynamicMIPSRel:
			list = word(at + value)
		}
	}
	if list == 0 {
		return nil
	}
	seen := map[uint64]bool{}
	for at := word(list + size); at != 0 && !seen[at] && len(out) < maxLinks; at = word(at + 3*size) {
		seen[at] = true
		path := r.text(word(at + size))
		if err := r.src.Draw(input.Memory, int64(len(path))); err != nil {
			r.failed(r.src.Wrap("list of the dynamic linker", -1, err))
			break
		}
		out = append(out, linked{base: word(at), dynamic: word(at + 2*size), path: path})
	}
	return out
}

// text reads a text in the memory up to its 0, "" if it is not there.
func (r *reader) text(address uint64) string {
	p := make([]byte, maxPath)
	p = p[:r.dump.Memory.Read(address, p)]
	p, _, ok := bytes.Cut(p, []byte{0})
	if !ok {
		return ""
	}
	return strings.ToValidUTF8(string(p), "\uFFFD")
}

// mapping returns the mapping at an address, or nil.
func (r *reader) mapping(address uint64) *core.Mapping {
	maps := r.dump.Linux.Maps
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Start > address }) - 1
	if i < 0 || address >= maps[i].End {
		return nil
	}
	return &maps[i]
}
