package dumpsyms

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// same reports whether two records have equal contents, wherever they are from.
func same(a, b *unwind.FrameData) bool {
	x := *a
	x.Origin = b.Origin
	return x == *b
}

// frames writes STACK WIN type address size prologue epilogue parameters saved_registers locals
// max_stack has_program program, or at the end whether ebp is used: all numbers in hexadecimal, by
// address, those of frame data (type 4) before those of FPO (type 0).
func (o *output) frames(each func(func(unwind.FrameData) error) error) error {
	var all []unwind.FrameData
	if err := each(func(d unwind.FrameData) error { all = append(all, d); return nil }); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b unwind.FrameData) int {
		return cmp.Or(cmp.Compare(b.Type, a.Type), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Size, a.Size))
	})
	for i := range all {
		d := &all[i]
		if i > 0 && same(d, &all[i-1]) {
			continue
		}
		o.n.WinFrames++
		o.str("STACK WIN")
		o.hex(uint64(d.Type))
		o.hex(d.Start)
		o.hex(d.Size)
		for _, v := range []uint32{d.Prolog, d.Epilog, d.Params, d.SavedRegs, d.Locals, d.MaxStack} {
			o.hex(uint64(v))
		}
		switch {
		case d.HasProgram:
			o.str(" 1")
			o.text(d.Program)
		case d.AllocatesBP:
			o.str(" 0 1")
		default:
			o.str(" 0 0")
		}
		o.end()
	}
	return o.err
}
