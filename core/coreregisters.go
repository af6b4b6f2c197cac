package core

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// CoreRegisters is how an ELF core has registers: those of a walk in a record of one layout, and all
// others in further notes.
type CoreRegisters struct {
	*cpu.ContextLayout
	// Sets are the further registers of a thread, by the offset of its record.
	Sets map[FileOff][]CoreSet
	// Features say where XSAVE puts each feature (NT_X86_XSAVE_LAYOUT, of Linux 6.12); nil if the core
	// does not.
	Features []XStateFeature
}

// CoreSet is the bytes of a note with registers.
type CoreSet struct {
	Loc Location
	Set *cpu.CoreSet
}

// addSets adds the registers of a core's further notes to a thread's. What does not fit is left out.
func (d *Dump) addSets(c *Context) error {
	if d.Registers == nil {
		return nil
	}
	for _, s := range d.Registers.Sets[c.Loc.Off] {
		raw, err := d.Src.Bytes(int64(s.Loc.Off), int64(min(s.Loc.Size, maxContext)))
		if err != nil {
			return err
		}
		watch := func(off, n int) {
			d.Src.NoteRead(fmt.Sprintf("registers (note 0x%x)", s.Set.Type), int64(s.Loc.Off)+int64(off), int64(n))
		}
		if s.Set.Type == cpu.NoteXState {
			if len(raw) >= xsaveLegacy+xsaveHeader {
				places := d.Registers.places(d.Header.Order.Uint64(raw[xsaveMask:]), len(raw))
				c.Extra = append(c.Extra, d.features(raw[xsaveLegacy:], c.Arch, places, func(off, n int) { watch(xsaveLegacy+off, n) })...)
			}
			continue
		}
		for _, f := range cpu.Fields(s.Set.Lines) {
			if f.Name != "_" && f.Off+f.Size <= len(raw) {
				c.Extra = append(c.Extra, d.extra(raw, f))
				watch(f.Off, f.Size)
			}
		}
	}
	return nil
}

// xsaveMask is where the kernel writes which features the system uses, in the part of the legacy
// area that software may use (struct xstateregs in arch/x86/include/asm/user.h).
const xsaveMask = 464

// places returns where the features of an XSAVE area of some bytes are: where the core says so; where Intel's
// processors have them, if they then end where the area does; or one after the other, as AMD's have them.
// Else the first alone, whose place is the same on all.
func (r *CoreRegisters) places(mask uint64, size int) []xfeature {
	if r.Features != nil {
		return placeFeatures(0, r.Features)
	}
	for _, compaction := range []uint64{0, 1<<63 | mask} {
		places, end := placeFeatures(compaction, nil), 0
		for _, p := range places {
			if mask&(1<<p.Index) != 0 {
				end = max(end, p.Off+p.Size)
			}
		}
		if end == size {
			return places
		}
	}
	return placeFeatures(0, nil)[:1]
}
