package core

import "fmt"

// The extended part of an amd64 context, as winnt.h and "Working with XState Context" (learn.microsoft.com) describe it. After
// the CONTEXT stands a CONTEXT_EX; its third chunk says where the XSAVE area goes on after the legacy part:
//
//	CONTEXT_EX at 1232: All {Offset i32, Length u32} · Legacy {…} · XState {…}, offsets from the CONTEXT_EX itself
//	XSAVE header, 64 bytes: Mask u64 · CompactionMask u64 · reserved, then the features
//
// A feature's standard offset counts from the start of the XSAVE area: 512 bytes of legacy part, which are in the CONTEXT, and
// the header come before. If bit 63 of CompactionMask is set, the features follow each other without gaps instead
// (Intel SDM vol. 1, 13.4.3).
const (
	xsaveLegacy     = 512
	xsaveHeader     = 64
	contextExXState = amd64ContextSize + 16
)

// xfeature is one feature: the architecture's offset and size (Intel SDM vol. 1, 13.5), used if MiscInfo has no table, and
// how its registers are named.
type xfeature struct {
	Index     uint32
	Off, Size int
	Align64   bool
	Regs      []field
}

var xfeatures = []xfeature{
	{2, 576, 256, false, series("ymm%dh", 16, 0, 16, 16)}, // the high halves of ymm0 to ymm15
	{3, 960, 64, false, series("bnd%d", 4, 0, 16, 16)},
	{4, 1024, 64, false, []field{{"bndcfgu", 0, 8}, {"bndstatus", 8, 8}}},
	{5, 1088, 64, false, series("k%d", 8, 0, 8, 8)},
	{6, 1152, 512, false, series("zmm%dh", 16, 0, 32, 32)}, // the high halves of zmm0 to zmm15
	{7, 1664, 1024, false, zmmHigh()},
	{9, 2688, 8, false, []field{{"pkru", 0, 4}}},
	{11, 0, 16, false, []field{{"u_cet", 0, 8}, {"ssp", 8, 8}}}, // CET_U: only ever in compacted form
	{17, 2752, 64, true, []field{{"tilecfg", 0, 64}}},
	{18, 2816, 8192, true, series("tmm%d", 8, 0, 1024, 1024)},
}

func zmmHigh() []field {
	f := series("zmm%d", 16, 0, 64, 64)
	for i := range f {
		f[i].Name = fmt.Sprintf("zmm%d", i+16)
	}
	return f
}

// xstate reads the features of an amd64 context that have registers by name. What does not fit is left out: the record is
// optional to every reader.
func (d *Dump) xstate(raw []byte) []ExtraReg {
	order := d.Header.Order
	if len(raw) < contextExXState+8 {
		return nil
	}
	rel, length := int64(int32(order.Uint32(raw[contextExXState:]))), int64(order.Uint32(raw[contextExXState+4:]))
	start := amd64ContextSize + rel
	if rel < 24 || start > int64(len(raw)) {
		return nil
	}
	area := raw[start:min(int64(len(raw)), start+length)]
	if len(area) < xsaveHeader {
		return nil
	}
	mask, compaction := order.Uint64(area), order.Uint64(area[8:])
	var out []ExtraReg
	for _, p := range d.placeFeatures(compaction) {
		if mask&(1<<p.Index) == 0 {
			continue // in its initial state: nothing was stored
		}
		off := p.Off - xsaveLegacy
		for _, f := range p.Regs {
			if off >= xsaveHeader && f.Off+f.Size <= p.Size && off+f.Off+f.Size <= len(area) {
				out = append(out, d.extra(area, []field{{f.Name, off + f.Off, f.Size}})...)
			}
		}
	}
	return out
}

// placeFeatures says where each feature's bytes lie in the XSAVE area. Sizes come from MiscInfo's table where it has one.
func (d *Dump) placeFeatures(compaction uint64) []xfeature {
	table := append([]xfeature(nil), xfeatures...)
	if d.Misc != nil {
		for _, f := range d.Misc.XStateFeatures {
			for i := range table {
				if table[i].Index == f.Index && f.Size > 0 && f.Size <= maxContext && f.Offset <= maxContext {
					table[i].Off, table[i].Size = int(f.Offset), int(f.Size)
				}
			}
		}
	}
	if compaction>>63 == 0 {
		return table
	}
	at := xsaveLegacy + xsaveHeader
	for i := range table {
		f := &table[i]
		if compaction&(1<<f.Index) == 0 {
			f.Off = 0
			continue
		}
		if f.Align64 {
			at = (at + 63) &^ 63
		}
		f.Off = at
		at += f.Size
	}
	return table
}
