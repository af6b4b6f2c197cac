package elfcore

import (
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// mapSegments makes the memory and the memory map of the segments, and of the files that have no segment.
func (r *reader) mapSegments() {
	l := &r.dump.Linux
	l.HasMaps = true
	for i := range r.segments {
		s := &r.segments[i]
		if s.kind != segmentLoad {
			continue
		}
		if s.inFile > 0 {
			r.memory = append(r.memory, core.Region{Start: s.address, Loc: core.Location{Off: core.FileOff(s.offset), Size: s.inFile}})
		}
		m := core.Mapping{Start: s.address, End: s.address + max(s.memory, s.inFile), Perms: perms(s.flags)}
		if f := r.fileAt(s.address); f != nil {
			m.Path, m.Offset = f.path, f.offset+s.address-f.start
		}
		if m.End > m.Start {
			l.Maps = append(l.Maps, m)
		}
	}
	sort.SliceStable(l.Maps, func(i, j int) bool { return l.Maps[i].Start < l.Maps[j].Start })
}

// perms writes the flags of a segment as /proc/PID/maps does, without the last letter: cores do not say what is shared.
func perms(flags uint32) string {
	p := []byte("---")
	for i, f := range []uint32{flagRead, flagWrite, flagExec} {
		if flags&f != 0 {
			p[i] = "rwx"[i]
		}
	}
	return string(p)
}

// fileAt returns the file that is mapped at an address, or nil.
func (r *reader) fileAt(address uint64) *mapped {
	i := sort.Search(len(r.files), func(i int) bool { return r.files[i].start > address }) - 1
	if i < 0 || address >= r.files[i].end {
		return nil
	}
	return &r.files[i]
}

// redZone is how far below the stack pointer a function may have data (System V ABI for x86-64, 3.2.2; other
// processors have none, or less).
const redZone = 128

// placeStacks says for each thread which memory its stack is: from below its stack pointer to the end of
// the region.
func (r *reader) placeStacks() {
	for i := range r.dump.Threads {
		context, err := r.dump.ThreadContext(i)
		if err != nil {
			r.failed(err)
			continue
		}
		sp := context.Regs.SP()
		region, ok := r.dump.Memory.Region(sp)
		if !ok {
			continue
		}
		t := &r.dump.Threads[i]
		below := min(redZone, sp-region.Start)
		t.StackStart = sp - below
		t.Stack = core.Location{Off: region.Loc.Off + core.FileOff(t.StackStart-region.Start), Size: region.End() - t.StackStart}
	}
}

// findModules makes a module of each mapped file that is a program: whose ELF header is in the memory, or,
// where the core has not kept it, whose code is mapped. The program that was started comes first.
func (r *reader) findModules() {
	d := r.dump
	entry, _ := d.Linux.AuxValue("AT_ENTRY")
	var modules []core.Module
	started := 0 // the module that the program begins in
	for i := 0; i < len(r.files); {
		first := r.files[i]
		end, code := first.end, r.isCode(first.start)
		// What follows of the file belongs to the module, until the file's beginning is mapped once more.
		for i++; i < len(r.files) && r.files[i].path == first.path && r.files[i].offset > 0; i++ {
			end, code = r.files[i].end, code || r.isCode(r.files[i].start)
		}
		if m, ok := r.module(first.path, first.start, end, code && first.offset == 0); ok {
			if entry >= m.Base && entry-m.Base < m.Size {
				started = len(modules)
			}
			modules = append(modules, m)
		}
	}
	if started > 0 {
		m := modules[started]
		modules = slices.Insert(slices.Delete(modules, started, started+1), 0, m)
	}
	// The kernel's own page with code, which is not a file.
	if at, ok := d.Linux.AuxValue("AT_SYSINFO_EHDR"); ok {
		if region, has := d.Memory.Region(at); has {
			if m, ok := r.module("linux-gate.so", at, region.End(), false); ok {
				modules = append(modules, m)
			}
		}
	}
	d.AddModules(modules)
	for i := range modules {
		if strings.HasPrefix(modules[i].Name, "/system/bin/linker") || strings.HasPrefix(modules[i].Name, "/apex/com.android.runtime/") {
			d.System.PlatformID, d.System.OS = 0x8203, core.Android
		}
	}
}

// isCode reports whether a mapping can be executed.
func (r *reader) isCode(address uint64) bool {
	m := r.mapping(address)
	return m != nil && m.Perms[2] == 'x'
}

// module makes a module of the file that is mapped from base to end. code: it is one although its header
// is not in the memory.
func (r *reader) module(path string, base, end uint64, code bool) (m core.Module, ok bool) {
	m = core.Module{Base: base, Size: end - base, Name: strings.TrimSuffix(path, " (deleted)")}
	region, ok := r.dump.Memory.Region(base)
	if !ok {
		return m, code
	}
	image, err := openELF(r.src.Sub(m.Name, int64(region.Loc.Off)+int64(base-region.Start), int64(region.End()-base)), maxImageSegments)
	if err != nil {
		r.needed(err)
		return m, false
	}
	low, high := ^uint64(0), uint64(0)
	for i := range image.segments {
		if s := &image.segments[i]; s.kind == segmentLoad && s.address+s.memory > s.address {
			low, high = min(low, s.address), max(high, s.address+s.memory)
		}
	}
	if low >= high {
		return m, false
	}
	low &^= 0xfff // the loader maps the page in which the first segment begins at the base
	m.Size = max(m.Size, high-low)
	if id := image.buildID(func(s *segment) int64 { return int64(s.address - low) }); id != nil {
		m.CodeView = core.CodeView{Signature: core.SigBpEL, BuildID: id}
	}
	return m, image.kind != kindCore
}

// maxImageSegments is how many program headers a program may have: linkers make some ten.
const maxImageSegments = 256
