package sframe

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// On s390x a function's CFA is 160 bytes above its caller's sp: above the area where a callee saves
// registers. The stored CFA offset leaves those out and counts in units of 8, so that most fit one
// byte (SFRAME_S390X_CFA_OFFSET_ADJUSTMENT, …_ALIGNMENT_FACTOR).
const (
	s390xArea = 160
	s390xUnit = 8
)

// rules makes the unwind.Row of a row. Without a rule for RA, the return address is still in the
// link register. Without a rule for FP, the frame pointer is unchanged. A row without words marks
// an outermost frame: the function has no caller.
func (t *table) rules(fn *function, e *entry) (unwind.Row, error) {
	row := unwind.Row{OthersUndefined: true, Origin: unwind.Origin{File: t.file, Part: SectionName, Offset: e.at}}
	row.Signal = t.Version == 3 && fn.info&infoSignal != 0
	if e.info&rowSigned != 0 {
		if t.arch.PointerAuth {
			row.Signed = fn.key()
		} else {
			t.warn("row", e.at, "the row says that the return address is signed, which %s does not have", t.arch.Name)
		}
	}
	if e.count() == 0 {
		row.CFA, row.RA = unwind.Rule{Kind: unwind.Undefined}, unwind.Rule{Kind: unwind.Undefined}
		row.Outermost = true
		return row, nil
	}
	fp := unwind.Rule{Kind: unwind.Same}
	var err error
	if fn.kind == kindFlex {
		err = t.flexible(e, &row, &fp)
	} else {
		t.plain(e, &row, &fp)
	}
	row.Saved = []unwind.RegRule{{Reg: t.arch.FP, Rule: fp}}
	if t.arch.CFABias != 0 {
		row.Saved = append(row.Saved, unwind.RegRule{Reg: t.arch.SP, Rule: unwind.Rule{Kind: unwind.FromCFA, Offset: -t.arch.CFABias}})
	}
	row.Topmost = row.RA.Kind == unwind.FromReg
	return row, err
}

// plain reads the words as offsets (chapter 3):
//
//	amd64   CFA = sp or fp + 1st    RA = [CFA + FixedRA]    FP = [CFA + 2nd]
//	arm64   CFA = sp or fp + 1st    RA = [CFA + 2nd]        FP = [CFA + 3rd]
//	s390x   CFA = sp or fp + 1st × 8 + 160                  RA and FP by the 2nd and 3rd, see saved
//
// GNU as writes a 2nd word alone if a function saves only RA. On s390x a 2nd word of 0 means that
// RA is not saved.
func (t *table) plain(e *entry, row *unwind.Row, fp *unwind.Rule) {
	base := t.arch.FP
	if e.info&rowFromSP != 0 {
		base = t.arch.SP
	}
	row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: base, Offset: t.cfaOffset(e.signed(0))}
	n, next := e.count(), 1
	switch {
	case t.FixedRA != 0:
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(t.FixedRA)}
	case n > next && !(t.arch == cpu.S390X && e.words[next] == 0):
		row.RA = t.saved(e, next)
		next++
	default:
		row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: t.arch.LR}
		next++
	}
	if n > next {
		*fp = t.saved(e, next)
	}
	if t.FixedFP != 0 {
		*fp = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(t.FixedFP)}
	}
	if n > next+1 {
		t.warn("row", e.at, "the row has %d offsets, more than rows of %s", n, t.arch.Name)
	}
}

// cfaOffset returns the offset in bytes of the CFA from its base.
func (t *table) cfaOffset(stored int64) int64 {
	if t.arch == cpu.S390X {
		return stored*s390xUnit + s390xArea
	}
	return stored
}

// saved returns the rule of RA or FP for offset i: [CFA + offset]. On s390x before version 3, an
// odd offset is a register: its DWARF number is offset >> 1 (SFRAME_V2_S390X_OFFSET_IS_REGNUM).
func (t *table) saved(e *entry, i int) unwind.Rule {
	off := e.signed(i)
	if t.arch == cpu.S390X && t.Version < 3 && off&1 != 0 {
		return t.register(e, off>>1, unwind.FromReg, 0)
	}
	return unwind.Rule{Kind: unwind.AtCFA, Offset: off}
}

// register returns a rule relative to the register with a DWARF number.
func (t *table) register(e *entry, number int64, kind unwind.Kind, off int64) unwind.Rule {
	if number < 0 || number >= int64(len(t.arch.DWARF)) || t.arch.DWARF[number] == cpu.NoReg {
		t.warn("register", e.at, "the row uses register %d, which %s does not have", number, t.arch.Name)
		return unwind.Rule{Kind: unwind.Undefined}
	}
	return unwind.Rule{Kind: kind, Reg: t.arch.DWARF[number], Offset: off}
}

// Bits of a control word (version 3).
const (
	controlReg   = 1 << 0 // the base is a register, else the CFA
	controlDeref = 1 << 1 // value = [base + offset], else base + offset
	controlBits  = 3      // the register's number is in the bits above these
)

// flexible reads the words of a flexible function's row (version 3): pairs of a control word and an
// offset, for CFA, RA and FP in this order. A control word of 0 has no offset and leaves the
// default rule. gcc needs this for functions that realign the stack, whose CFA is in r10.
func (t *table) flexible(e *entry, row *unwind.Row, fp *unwind.Rule) error {
	if e.info&rowFromSP != 0 {
		t.warn("row", e.at, "the row of a flexible function has the base register bit set, which is ignored")
	}
	row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: t.arch.LR}
	if t.FixedRA != 0 {
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(t.FixedRA)}
	}
	if t.FixedFP != 0 {
		*fp = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(t.FixedFP)}
	}
	i := 0
	for which, rule := range []*unwind.Rule{&row.CFA, &row.RA, fp} {
		if i >= e.count() {
			break
		}
		control := e.words[i]
		i++
		if control == 0 && which > 0 {
			continue
		}
		if i >= e.count() {
			return t.formatError(e.at, "an offset after each control word", fmt.Sprintf("control word 0x%x at the end", control))
		}
		off := e.signed(i)
		i++
		if which == 0 {
			if control&controlReg == 0 {
				return t.formatError(e.at, "a CFA relative to a register", fmt.Sprintf("control word 0x%x", control))
			}
			off = t.cfaOffset(off)
		}
		*rule = t.controlled(e, control, off)
	}
	if i < e.count() {
		t.warn("row", e.at, "the row has %d words; the last %d are ignored", e.count(), e.count()-i)
	}
	return nil
}

// controlled returns the rule of a control word and an offset.
func (t *table) controlled(e *entry, control uint32, off int64) unwind.Rule {
	if control&(1<<2) != 0 {
		t.warn("row", e.at, "unknown bit 2 of control word 0x%x is ignored", control)
	}
	kinds := [...]unwind.Kind{0: unwind.FromCFA, controlReg: unwind.FromReg, controlDeref: unwind.AtCFA, controlReg | controlDeref: unwind.AtReg}
	kind := kinds[control&(controlReg|controlDeref)]
	if control&controlReg != 0 {
		return t.register(e, int64(control>>controlBits), kind, off)
	}
	return unwind.Rule{Kind: kind, Offset: off}
}
