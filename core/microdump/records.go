package microdump

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// dump is a microdump that is being read.
type dump struct {
	r     *reader
	core  core.Dump
	micro core.Micro

	context     []byte
	contextLine int
	stackLine   int // line of the stack's header
	// memory has the bytes of the stack's chunks, regions their addresses. There is one region,
	// unless lines are missing.
	memory  []byte
	regions []core.Region
}

// newDump begins the microdump whose first record is in a line of the log.
func newDump(r *reader, line int) *dump {
	d := &dump{r: r}
	d.micro.FirstLine, d.micro.LastLine = line, line
	d.core.Src = input.FromBytes(r.src.Name, nil) // for the name in diagnostics; finish replaces it
	return d
}

// note adds a diagnostic about a line. letter is the record's, or "".
func (d *dump) note(sev core.Severity, letter string, line int, want, have string) {
	part := "microdump"
	if letter != "" {
		part += ", " + letter + " record"
	}
	d.core.AddDiagnostic(sev, &input.FormatError{File: d.r.src.Name, Part: part, Offset: -1, Line: line, Want: want, Have: have})
}

// recordRow is a kind of record: its letter, a description of its fields for diagnostics, and its
// reader.
type recordRow struct {
	letter string
	form   string
	read   func(d *dump, text string, line int) bool
}

// records has all kinds of records.
var records = []recordRow{
	{"V", "product:version", (*dump).product},
	{"O", "system, processor, number of CPUs, machine and fingerprint", (*dump).system},
	{"P", "a process type", (*dump).process},
	{"R", "a signal's number, its name and an address", (*dump).reason},
	{"G", "version|vendor|renderer", (*dump).gpu},
	{"H", "lowest and highest address, number of gaps, largest and sum, and counts", (*dump).space},
	{"S", "an address and bytes in hexadecimal", (*dump).stack},
	{"C", "bytes in hexadecimal", (*dump).cpu},
	{"M", "address, offset, size, id and file name", (*dump).module},
}

// record reads one line of the microdump. A log without tags has other programs' lines too, so an
// unknown letter is an error only in a tagged line.
func (d *dump) record(text string, line int, tagged bool) {
	letter, rest, _ := strings.Cut(text, " ")
	for i := range records {
		if records[i].letter != letter {
			continue
		}
		if !records[i].read(d, rest, line) {
			d.note(core.Bad, letter, line, records[i].form, fmt.Sprintf("%.60q", rest))
		}
		return
	}
	if tagged && strings.TrimSpace(text) != "" {
		d.note(core.Note, "", line, "a record with one of the letters V O P R G H S C M", fmt.Sprintf("%.60q", text))
	}
}

// number parses a hexadecimal number of at most so many bits.
func number(s string, bits int) (uint64, bool) {
	v, err := strconv.ParseUint(s, 16, bits)
	return v, err == nil
}

// clean trims white space and makes text valid UTF-8.
func clean(s string) string { return strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD") }

// known returns a field's text, or "" for the writer's "UNKNOWN".
func known(s string) string {
	if s = clean(s); s == "UNKNOWN" {
		return ""
	}
	return s
}

// product reads the product's name and version, which writers without one leave as UNKNOWN:0.0.0.0.
func (d *dump) product(text string, _ int) bool {
	if d.micro.Product = known(text); d.micro.Product == "UNKNOWN:0.0.0.0" {
		d.micro.Product = ""
	}
	return true
}

// process reads the type of the process, such as "renderer".
func (d *dump) process(text string, _ int) bool {
	d.micro.ProcessType = known(text)
	return true
}

// platforms has the letters of the systems that write microdumps, with their numbers in
// minidump_format.h.
var platforms = map[string]struct {
	id uint32
	os core.OS
}{"A": {0x8203, core.Android}, "L": {0x8201, core.OSLinux}}

// system reads "A arm 06 armv8l fingerprint". The fields after the processor may be missing.
//
// Only Android and Linux write microdumps. A processor without a table in core/cpu is a warning;
// the stack then cannot be walked.
func (d *dump) system(text string, line int) bool {
	f := strings.SplitN(text, " ", 5)
	if len(f) < 2 {
		return false
	}
	s := &core.SystemInfo{Processor: core.ProcUnknown}
	d.core.System = s
	if p, ok := platforms[f[0]]; ok {
		s.PlatformID, s.OS = p.id, p.os
	} else {
		d.note(core.Warning, "O", line, "the system A (Android) or L (Linux)", fmt.Sprintf("%.20q", f[0]))
	}
	d.micro.Arch = clean(f[1])
	if a := cpu.ByModuleWord(f[1]); a != nil && len(a.Processors) > 0 {
		s.Processor = a.Processors[0]
	} else {
		d.note(core.Warning, "O", line, "a known processor", fmt.Sprintf("%.20q", f[1]))
	}
	if len(f) < 3 {
		return true
	}
	n, ok := number(f[2], 8)
	s.CPUCount = uint8(n)
	if len(f) > 3 {
		d.micro.Hardware = clean(f[3])
	}
	if len(f) > 4 {
		d.micro.Fingerprint = clean(f[4])
		s.CSDVersion = d.micro.Fingerprint
	}
	return ok
}

// reason reads "0000000B SIGSEGV 00000010".
func (d *dump) reason(text string, _ int) bool {
	f := strings.Fields(text)
	if len(f) < 3 {
		return false
	}
	code, ok := number(f[0], 32)
	addr, fine := number(f[2], 64)
	if !ok || !fine {
		return false
	}
	d.micro.Signal = clean(f[1])
	d.core.Exception = &core.Exception{Code: uint32(code), Address: addr}
	return true
}

// gpu reads what the program knew of the graphics driver: up to four texts with "|" between them.
func (d *dump) gpu(text string, _ int) bool {
	if known(text) == "" {
		return true
	}
	f := append(strings.SplitN(text, "|", 4), "", "")
	g := &core.GPU{}
	for i, to := range []*string{&g.Version, &g.Vendor, &g.Renderer} {
		*to = strings.ToValidUTF8(f[i], "\uFFFD")
	}
	d.micro.GPU = g
	return true
}

// space reads "12C00000 FFF73000 00D9 31E89000 975F4000 0C:18 0D:0B": lowest and highest address,
// number of gaps, largest and total size; then counts of gaps by the highest bit of their size.
func (d *dump) space(text string, _ int) bool {
	f := strings.Fields(text)
	if len(f) < 5 {
		return false
	}
	var v [5]uint64
	for i := range v {
		var ok bool
		if v[i], ok = number(f[i], 64); !ok {
			return false
		}
	}
	a := &core.AddressSpace{Low: v[0], High: v[1], Gaps: uint32(v[2]), Largest: v[3], Sum: v[4]}
	d.micro.Space = a
	for _, pair := range f[5:] {
		bit, count, _ := strings.Cut(pair, ":")
		b, ok := number(bit, 8)
		n, fine := number(count, 8)
		if !ok || !fine || len(a.BySize) == 64 {
			return false
		}
		a.BySize = append(a.BySize, core.GapCount{Bit: uint8(b), Count: uint8(n)})
	}
	return true
}

// unhex decodes hexadecimal digits up to the first other character. whole is true if all are hexadecimal.
//
// Example: "C0FFEE1" gives c0 ff ee and false, "C0FFZZ" c0 ff and false.
func unhex(s string) (p []byte, whole bool) {
	p = make([]byte, len(s)/2)
	n, err := hex.Decode(p, []byte(s[:len(s)&^1]))
	return p[:n], err == nil && len(s)&1 == 0
}

// stack reads the header, "0 pointer start size", or a chunk, "address bytes". A chunk begins where
// the last one ended. If it does not, a line is missing or misplaced, and a new region begins. For a
// damaged chunk, the bytes before the damage are kept.
//
//	S 0 C3A397E8 C3A39000 00002000    pointer, start, size
//	S C3A39000 60000000C1AF24E5…      the first 384 bytes
//	S C3A39180 …                      the next ones
func (d *dump) stack(text string, line int) bool {
	f := strings.Fields(text)
	if len(f) > 0 && f[0] == "0" {
		if len(f) < 4 {
			return false
		}
		h := &core.MicroStack{}
		d.stackLine = line
		for i, to := range []*uint64{&h.Pointer, &h.Start, &h.Size} {
			v, ok := number(f[i+1], 64)
			if *to = v; !ok {
				return false
			}
		}
		d.micro.Stack = h
		return true
	}
	if len(f) != 2 {
		return false
	}
	addr, ok := number(f[0], 64)
	p, whole := unhex(f[1])
	if !ok || addr+uint64(len(p)) < addr {
		return false
	}
	last := len(d.regions) - 1
	switch {
	case len(p) == 0:
		return whole
	case last >= 0 && d.regions[last].End() == addr:
		d.regions[last].Loc.Size += uint64(len(p))
	default:
		if last >= 0 {
			d.note(core.Warning, "S", line, fmt.Sprintf("the bytes at 0x%x", d.regions[last].End()), fmt.Sprintf("those at 0x%x", addr))
		}
		if d.r.regions++; d.r.regions > maxRegions {
			d.note(core.Bad, "S", line, fmt.Sprintf("at most %d separate chunks in a log", maxRegions), "more; the rest is ignored")
			return true
		}
		d.regions = append(d.regions, core.Region{Start: addr, Loc: core.Location{Off: core.FileOff(len(d.memory)), Size: uint64(len(p))}})
	}
	d.memory = append(d.memory, p...)
	return whole
}

// cpu reads the context record. A damaged one is unusable, because it is unknown which registers
// are wrong.
func (d *dump) cpu(text string, line int) bool {
	p, whole := unhex(strings.TrimSpace(text))
	if !whole || len(p) == 0 {
		return false
	}
	d.context, d.contextLine = p, line
	return true
}

// module reads "AAB37000 00000000 00005000 CDDB210E1401729DD9368E97D91BFA6F0 app_process32":
// address, offset, size, id, name. The name extends to the end of the line; Breakpad's reader ends
// it at the first space.
func (d *dump) module(text string, line int) bool {
	f := strings.SplitN(clean(text), " ", 5)
	if len(f) < 5 {
		return false
	}
	var v [3]uint64
	for i := range v {
		var ok bool
		if v[i], ok = number(f[i], 64); !ok {
			return false
		}
	}
	if d.r.modules++; d.r.modules > maxModules {
		if d.r.modules == maxModules+1 {
			d.note(core.Bad, "M", line, fmt.Sprintf("at most %d modules in a log", maxModules), "more; the rest is ignored")
		}
		return true
	}
	m := core.Module{Base: v[0], Size: v[2], Name: f[4]}
	var ok bool
	if m.CodeView, ok = codeView(f[3]); !ok {
		d.note(core.Warning, "M", line, "an id of 32 hexadecimal digits and an age", fmt.Sprintf("%.50q", f[3]))
	}
	if m.Size == 0 || m.Base > ^uint64(0)-m.Size {
		d.note(core.Warning, "M", line, "a module with an address range", fmt.Sprintf("0x%x with 0x%x bytes", m.Base, m.Size))
	}
	d.core.Modules = append(d.core.Modules, m)
	d.micro.ModuleOffsets = append(d.micro.ModuleOffsets, v[1])
	return true
}

// codeView makes the debug record of a module's id. The writer truncates the build id to the 16
// bytes of a GUID and prints the GUID's first three fields as numbers, so their bytes are reversed.
// The age after them is always 0.
//
// Example: CDDB210E1401729DD9368E97D91BFA6F0 is the build id that begins with 0e 21 db cd 01 14 9d
// 72 d9 36 8e 97.
func codeView(id string) (cv core.CodeView, ok bool) {
	if len(id) < 33 {
		return cv, false
	}
	p, whole := unhex(id[:32])
	age, fine := number(id[32:], 32)
	if !whole || !fine {
		return cv, false
	}
	le := binary.LittleEndian
	le.PutUint32(p[0:], binary.BigEndian.Uint32(p[0:]))
	le.PutUint16(p[4:], binary.BigEndian.Uint16(p[4:]))
	le.PutUint16(p[6:], binary.BigEndian.Uint16(p[6:]))
	if age == 0 {
		return core.CodeView{Signature: core.SigBpEL, BuildID: p}, true
	}
	cv = core.CodeView{Signature: core.SigRSDS, Age: uint32(age)}
	copy(cv.GUID[:], p)
	return cv, true
}
