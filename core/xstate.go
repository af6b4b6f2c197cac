package core

import (
	"github.com/crashpane/crashpane/core/cpu"
)

// The extended part of an x86 or amd64 context, as winnt.h and "Working with XState Context"
// (learn.microsoft.com) describe it. After the CONTEXT is followed by a CONTEXT_EX; its third chunk
// says where the XSAVE area continues after the legacy part:
//
//	CONTEXT_EX at 1232 (x86: 716): All {Offset i32, Length u32} · Legacy {…} · XState {…}, offsets from the CONTEXT_EX itself
//	XSAVE header, 64 bytes: Mask u64 · CompactionMask u64 · reserved, then the features
//
// A feature's standard offset counts from the start of the XSAVE area: 512 bytes of legacy part,
// which are in the CONTEXT, and the header come before. If bit 63 of CompactionMask is set, the
// features follow each other without gaps instead (Intel SDM vol. 1, 13.4.3).
const (
	xsaveLegacy = 512
	xsaveHeader = 64
	// contextExSize is the size of a CONTEXT_EX in bytes, contextExXState the offset of its third
	// chunk.
	contextExSize   = 24
	contextExXState = 16
	// maxFeatures is the number of feature bits in the mask.
	maxFeatures = 63
)

// xfeature is one feature: the architecture's offset and size (Intel SDM vol. 1, 13.5), used if
// MiscInfo has no table, and how its registers are named. An offset of 0 is that of a feature which
// exists in compacted form only.
type xfeature struct {
	Index     uint32
	Off, Size int
	Align64   bool
	Regs      string
}

var xfeatures = []xfeature{
	{2, 576, 256, false, "0 16 ymm0-15h"}, // the high halves of ymm0 to ymm15
	{3, 960, 64, false, "0 16 bnd0-3"},
	{4, 1024, 64, false, "0 8 bndcfgu bndstatus"},
	{5, 1088, 64, false, "0 8 k0-7"},
	{6, 1152, 512, false, "0 32 zmm0-15h"}, // the high halves of zmm0 to zmm15
	{7, 1664, 1024, false, "0 64 zmm16-31"},
	{8, 0, 128, false, "0 8 rtit_ctl rtit_output_base rtit_output_mask rtit_status rtit_cr3_match rtit_addr0_a rtit_addr0_b rtit_addr1_a rtit_addr1_b"},
	{9, 2688, 8, false, "0 4 pkru"},
	{10, 0, 8, false, "0 8 pasid"},
	{11, 0, 16, false, "0 8 u_cet ssp"},
	{12, 0, 24, false, "0 8 pl0_ssp pl1_ssp pl2_ssp"},
	{17, 2752, 64, true, "0 64 tilecfg"},
	{18, 2816, 8192, true, "0 1024 tmm0-7"},
	// r16 to r31 of Intel's Advanced Performance Extensions (architecture specification 355828,
	// section 3.1.4), in the place of the bound registers, which no CPU has together with them
	{19, 960, 128, false, "0 8 r16-31"},
}

// xstate reads the features that have registers by name of a context record, whose fixed part they
// follow. What does not fit is left out: the record is optional to every reader.
func (d *Dump) xstate(raw []byte, l *cpu.ContextLayout, watch func(off, n int)) []ExtraReg {
	order, base := d.Header.Order, l.Size
	if len(raw) < base+contextExSize {
		return nil
	}
	watch(base, contextExSize)
	p := raw[base+contextExXState:]
	// The offset may be negative in other chunks, as the legacy part precedes the CONTEXT_EX.
	rel, length := int64(int32(order.Uint32(p))), int64(order.Uint32(p[4:]))
	start := int64(base) + rel
	if rel < contextExSize || start > int64(len(raw)) {
		return nil
	}
	area := raw[start:min(int64(len(raw)), start+length)]
	if len(area) < xsaveHeader {
		return nil
	}
	watch(int(start), xsaveHeader)
	var known []XStateFeature
	if d.Misc != nil {
		known = d.Misc.XStateFeatures
	}
	return d.features(area, l.Arch, placeFeatures(order.Uint64(area[8:]), known), func(off, n int) { watch(int(start)+off, n) })
}

// features reads the features of an XSAVE area after its legacy part, which begins with the header.
func (d *Dump) features(area []byte, a *cpu.Arch, places []xfeature, watch func(off, n int)) (out []ExtraReg) {
	mask := d.Header.Order.Uint64(area)
	for _, p := range places {
		if mask&(1<<p.Index) == 0 {
			continue // in its initial state: nothing was stored
		}
		off := p.Off - xsaveLegacy
		if off < xsaveHeader || off >= len(area) {
			continue
		}
		for i, f := range cpu.Fields(p.Regs) {
			if a.WordSize == 4 && i >= 8 && (p.Index == 2 || p.Index == 6 || p.Index == 7) {
				break // there are eight vector registers in 32-bit code
			}
			if f.Off+f.Size <= p.Size && off+f.Off+f.Size <= len(area) {
				f.Off += off
				out = append(out, d.extra(area, f))
				watch(f.Off, f.Size)
			}
		}
	}
	return out
}

// placeFeatures computes the offset of each feature's bytes in the XSAVE area. Sizes come from
// the dump's table (known) where it has one. In compacted form a feature of unknown size hides the places
// of those after it, which are left out.
func placeFeatures(compaction uint64, known []XStateFeature) []xfeature {
	var table [maxFeatures]xfeature
	for _, f := range xfeatures {
		table[f.Index] = f
	}
	for _, f := range known {
		if f.Index < maxFeatures && f.Size > 0 && f.Size <= maxContext && f.Offset <= maxContext {
			t := &table[f.Index]
			t.Index, t.Off, t.Size = f.Index, int(f.Offset), int(f.Size)
		}
	}
	// Standard form: the offsets of the table hold. Features 0 and 1 are the legacy part.
	if compaction>>63 == 0 {
		return table[2:]
	}
	var out []xfeature
	at := xsaveLegacy + xsaveHeader
	for i := 2; i < maxFeatures; i++ {
		f := table[i]
		if compaction&(1<<i) == 0 {
			continue
		}
		if f.Size == 0 {
			break
		}
		if f.Align64 {
			at = (at + 63) &^ 63
		}
		f.Off = at
		at += f.Size
		out = append(out, f)
	}
	return out
}
