package sframe

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// onlyRules are the symbols of a module that begins at 0 and has a table of rules, and nothing
// else.
type onlyRules struct{ unwind.Table }

func (onlyRules) Known(int) symbol.Answer { return symbol.Yes }

func (onlyRules) Lookup(int, uint64) (symbol.Symbol, symbol.Answer) {
	return symbol.Symbol{}, symbol.No
}

func (onlyRules) Function(int, uint64) (symbol.Range, bool) { return symbol.Range{}, false }

func (onlyRules) FrameData(int, uint64) (unwind.FrameData, symbol.Answer) {
	return unwind.FrameData{}, symbol.No
}

func (o onlyRules) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	row, ok, err := o.Table.Row(rva)
	if !ok || err != nil {
		return row, symbol.No
	}
	return row, symbol.Yes
}

// TestOracleWalk has the walker itself go up the stacks: its checks of progress and of topmost
// frames refuse none that gdb has.
func TestOracleWalk(t *testing.T) {
	for _, tc := range oracles {
		if tc.without != "" {
			continue
		}
		t.Run(tc.elf, func(t *testing.T) {
			o := openOracle(t, tc.trace)
			p := walker.Best
			p.Sources = []walker.Source{walker.SourceCFI}
			w := walker.New(p, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Start: 0, Size: 1 << 25}}, core.OverlapTruncate), onlyRules{linked(t, tc.elf)})
			for i := range o.Steps {
				s := &o.Steps[i]
				stack := w.Walk(s.registers, s)
				for j, f := range s.Frames {
					if j >= len(stack.Frames) || stack.Frames[j].PC != f.PC || stack.Frames[j].Regs.SP() != f.SP {
						got := ""
						for _, f := range stack.Frames {
							got += fmt.Sprintf("%x (sp %x) %s\n", f.PC, f.Regs.SP(), f.Row.Describe(o.arch))
						}
						t.Fatalf("%x, frame %d should be %x (sp %x, %s); the stack is\n%s%s: %s %v", s.PC, j, f.PC, f.SP, f.Name, got, stack.Stop.Kind, stack.Stop.Detail, stack.Stop.Attempts)
					}
				}
			}
		})
	}
}
