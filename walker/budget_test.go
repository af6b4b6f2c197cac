package walker

import (
	"errors"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Rules draw their ops, a rule whose code jumps back as many as it may execute. What is over the
// budget is not evaluated.
func TestOpsAreDrawn(t *testing.T) {
	budget := &input.Budget{}
	s := &walk{Walker: &Walker{Budget: budget}, arch: cpu.AMD64}
	regs := cpu.Regs{Arch: cpu.AMD64}
	code := func(n int, last unwind.Op) unwind.Row {
		ops := append(slices.Repeat([]unwind.Op{{Kind: unwind.Const, Offset: 1}, {Kind: unwind.Drop}}, n/2), last)
		return unwind.Row{CFA: unwind.Rule{Kind: unwind.Const}, RA: unwind.Rule{Kind: unwind.Computed, Code: ops}}
	}
	one := unwind.Op{Kind: unwind.Const, Offset: 1}
	for _, c := range []struct {
		row  unwind.Row
		want int64
		ok   bool
	}{
		{code(0, one), 1, true},
		{code(1000, one), 1001, true},
		{code(10, unwind.Op{Kind: unwind.Jump, Arg: -5}), 2048, false},
	} {
		before := budget.Left(input.Work)
		_, _, err := s.evaluate(&c.row, &regs, nil, nil)
		if drawn := before - budget.Left(input.Work); drawn != c.want || (err == nil) != c.ok {
			t.Errorf("%d steps were drawn, want %d; %v", drawn, c.want, err)
		}
	}
	budget.Draw(input.Work, budget.Left(input.Work))
	row := code(10, one)
	if _, _, err := s.evaluate(&row, &regs, nil, nil); !errors.As(err, new(*input.BudgetError)) {
		t.Error(err)
	}
}
