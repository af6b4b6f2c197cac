package core

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// CrashpadInfo is stream 0x43500001. Source of the layouts: Crashpad's
// minidump/minidump_extensions.h (all packed to 4 bytes).
type CrashpadInfo struct {
	Version            uint32
	ReportID, ClientID string // "9d1d9732-da36-41ec-bdb4-fec91b8ed292"; "" if all zeros
	Annotations        []KeyValue
	Modules            []CrashpadModule
	// AddressMask has a one for each bit of a pointer that is not part of the address (pointer
	// authentication codes); nil if the writer knew none.
	AddressMask *uint64
}

// CrashpadModule is what a module says about itself.
type CrashpadModule struct {
	Module  uint32 // index into Dump.Modules, as stored
	Version uint32
	List    []string     // annotations without a name
	Simple  []KeyValue   // annotations that are text
	Objects []Annotation // annotations of any type
}

// Annotation is an annotation object. Type 1 is text; types from 0x8000 on are the module's own.
type Annotation struct {
	Name  string
	Type  uint16
	Value []byte
}

// Text returns the annotation's text, with anything that is not UTF-8 as U+FFFD; false if it is not
// a text.
func (a *Annotation) Text() (string, bool) {
	return strings.ToValidUTF8(strings.TrimRight(string(a.Value), "\x00"), "\uFFFD"), a.Type == 1
}

const (
	maxAnnotations     = 100_000
	crashpadMaskAt     = 56 // offset of the address mask, in versions that have one
	crashpadModuleSize = 28
	// annotationCost is what an annotation takes in memory, in bytes, without its text.
	annotationCost = 64
)

// decodeCrashpadInfo reads MinidumpCrashpadInfo.
//
//	0 version u32 · 4 report_id GUID · 20 client_id GUID · 36 simple_annotations: DataSize u32 · Rva u32 ·
//	44 module_list: DataSize u32 · Rva u32 · 52 reserved u32 · 56 address_mask u64
func decodeCrashpadInfo(d *Dump, s *Stream, c *input.Cursor) {
	i := &CrashpadInfo{Version: c.U32(), ReportID: guidText(c), ClientID: guidText(c)}
	simple, modules := location(c), location(c)
	if c.Err() != nil {
		return
	}
	d.Crashpad = i
	if s.Loc.Size >= crashpadMaskAt+8 {
		c.Skip(4)
		if mask := c.U64(); mask != 0 {
			i.AddressMask = &mask
		}
	}
	i.Annotations = d.simpleDictionary(s, simple)
	d.crashpadModules(s, i, modules)
}

// guidText reads a GUID: u32, u16, u16 and eight bytes.
func guidText(c *input.Cursor) string {
	a, b, e := c.U32(), c.U16(), c.U16()
	var p [8]byte
	c.Fill(p[:])
	if a == 0 && b == 0 && e == 0 && p == [8]byte{} {
		return ""
	}
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", a, b, e, p[:2], p[2:])
}

// part returns a cursor over something that a stream points to, or nil if it is empty.
func (d *Dump) part(s *Stream, loc Location, what string) *input.Cursor {
	if loc.Size == 0 || loc.Off == 0 {
		return nil
	}
	return input.NewCursor(d.Src, s.Type.part()+", "+what, int64(loc.Off), int64(loc.Size), d.Header.Order)
}

// elements reads the count of a list that fills the rest of a cursor and cuts it to the room there
// is.
//
// Lists may point at the same bytes many times, so what they take in memory is counted against the
// dump's size (afford).
func (d *Dump) elements(s *Stream, c *input.Cursor, size int64) int {
	n := int64(c.U32())
	if c.Err() != nil || n == 0 {
		return 0
	}
	fit := min(n, c.Left()/size, maxAnnotations)
	if fit < n {
		d.remark(Bad, s.Type, c.Off(), fmt.Sprintf("%d annotations", n), fmt.Sprintf("room for %d", fit))
	}
	if !d.afford(s.Type, fit*annotationCost) { // lists may share their bytes
		return 0
	}
	return int(fit)
}

// simpleDictionary reads MinidumpSimpleStringDictionary: count u32, then {key Rva u32, value Rva
// u32}.
func (d *Dump) simpleDictionary(s *Stream, loc Location) (out []KeyValue) {
	c := d.part(s, loc, "annotations")
	if c == nil {
		return nil
	}
	for range d.elements(s, c, 8) {
		out = append(out, KeyValue{d.utf8At(s, c.U32(), "name of an annotation"), d.utf8At(s, c.U32(), "annotation")})
	}
	d.diagnose(Bad, s.Type, c.Err())
	return out
}

// crashpadModules reads MinidumpModuleCrashpadInfoList: count u32, then {index u32, DataSize u32,
// Rva u32} that point to MinidumpModuleCrashpadInfo:
//
//	0 version u32 · 4 list_annotations: DataSize u32 · Rva u32 · 12 simple_annotations · 20 annotation_objects
func (d *Dump) crashpadModules(s *Stream, i *CrashpadInfo, loc Location) {
	c := d.part(s, loc, "modules")
	if c == nil {
		return
	}
	for range d.elements(s, c, 12) {
		m := CrashpadModule{Module: c.U32()}
		at := location(c)
		if c.Err() != nil {
			break
		}
		if mc := d.part(s, at, "module"); mc != nil {
			m.Version = mc.U32()
			list, simple := location(mc), location(mc)
			var objects Location
			// Older writers end the record before the annotation objects.
			if at.Size >= crashpadModuleSize {
				objects = location(mc)
			}
			d.diagnose(Bad, s.Type, mc.Err())
			if mc.Err() == nil {
				m.List, m.Simple, m.Objects = d.rvaList(s, list), d.simpleDictionary(s, simple), d.annotationObjects(s, objects)
			}
		}
		i.Modules = append(i.Modules, m)
	}
	d.diagnose(Bad, s.Type, c.Err())
}

// rvaList reads MinidumpRVAList: count u32, then the Rva of a text each.
func (d *Dump) rvaList(s *Stream, loc Location) (out []string) {
	c := d.part(s, loc, "annotation list")
	if c == nil {
		return nil
	}
	for range d.elements(s, c, 4) {
		out = append(out, d.utf8At(s, c.U32(), "annotation"))
	}
	d.diagnose(Bad, s.Type, c.Err())
	return out
}

// annotationObjects reads MinidumpAnnotationList: count u32, then {name Rva u32, type u16, reserved
// u16, value Rva u32}.
func (d *Dump) annotationObjects(s *Stream, loc Location) (out []Annotation) {
	c := d.part(s, loc, "annotation objects")
	if c == nil {
		return nil
	}
	for range d.elements(s, c, 12) {
		name := d.utf8At(s, c.U32(), "name of an annotation")
		a := Annotation{Name: name, Type: c.U16()}
		c.Skip(2)
		a.Value = d.counted(s, c.U32(), "annotation")
		out = append(out, a)
	}
	d.diagnose(Bad, s.Type, c.Err())
	return out
}

// utf8At reads a MinidumpUTF8String: its length in bytes, UTF-8, a 0. Offset 0 means "none".
func (d *Dump) utf8At(s *Stream, off uint32, what string) string {
	return strings.ToValidUTF8(string(d.counted(s, off, what)), "\uFFFD")
}

// counted reads bytes with their number before them (u32). The 0 after a text is not counted; it
// goes with it here.
func (d *Dump) counted(s *Stream, off uint32, what string) []byte {
	if off == 0 {
		return nil
	}
	c := input.NewCursor(d.Src, s.Type.part()+", "+what, int64(off), d.Src.Size-int64(off), d.Header.Order)
	n := int64(c.U32())
	if c.Err() == nil && n > c.Left() {
		c.FailAt(int64(off), fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d bytes to the end of the file", c.Left()))
	}
	if c.Err() != nil {
		d.diagnose(Bad, s.Type, c.Err())
		return nil
	}
	if !d.afford(s.Type, n) {
		return nil
	}
	p := c.Bytes(n)
	d.ending(c, 1)
	d.diagnose(Bad, s.Type, c.Err())
	return p
}
