package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// Difference compares two dumps. Rows has what both have, and where they differ.
type Difference struct {
	Rows []DifferenceRow
	// FirstFrame is the number of the first frame, from the innermost, in which the two stacks differ; -1
	// if they are in the same functions.
	FirstFrame int
	// SameModules is how many modules are the same in both; they have no row.
	SameModules int
}

// DifferenceRow is a property of two dumps. What one does not have is "".
type DifferenceRow struct {
	Part string // "crash", "system", "stack", "module", "register", "annotation"
	Key  string
	A, B string
	Same bool
	// First: it is the first frame in which the stacks differ.
	First bool
}

// Differ compares two dumps: the crashes, the stacks of the threads that are shown first, the modules,
// the registers of the first frames, the annotations. name makes a name readable.
func Differ(a, b *Report, name func(Name) string) *Difference {
	d := &Difference{Rows: []DifferenceRow{}, FirstFrame: -1}
	d.add("crash", "Reason", a.reasonText(), b.reasonText())
	d.add("crash", "What happened", a.sentenceText(), b.sentenceText())
	d.add("crash", "Assertion", a.Assertion, b.Assertion)
	d.add("system", "System", a.System.Display, b.System.Display)
	d.add("system", "Process", a.Process.Name, b.Process.Name)
	d.add("system", "Version", a.Process.Version, b.Process.Version)
	d.stacks(a, b, name)
	d.modules(a, b)
	d.registers(a, b)
	d.annotations(a, b)
	return d
}

// add adds a row, unless neither dump has the property.
func (d *Difference) add(part, key, a, b string) {
	if a != "" || b != "" {
		d.Rows = append(d.Rows, DifferenceRow{Part: part, Key: key, A: a, B: b, Same: a == b})
	}
}

func (r *Report) reasonText() string {
	if r.Crash == nil {
		return "no crash"
	}
	return r.Crash.Reason.Name
}

func (r *Report) sentenceText() string {
	if r.Crash == nil {
		return ""
	}
	return r.Crash.Sentence()
}

// firstFrames returns the indexes of the frames of the thread that is shown first, without those that are folded.
func (r *Report) firstFrames() (out []int) {
	if r.FirstThread < 0 {
		return nil
	}
	t := &r.Threads[r.FirstThread]
	for i := 0; i < len(t.Frames); i++ {
		if f := t.FoldAt(i); f != nil {
			i = f.From + f.Count - 1
			continue
		}
		out = append(out, i)
	}
	return out
}

// stacks compares the stacks: the inner frames that are the same, then those that differ, then the outer
// ones that are the same again.
func (d *Difference) stacks(a, b *Report, name func(Name) string) {
	type call struct {
		number   int
		function string
	}
	calls := func(r *Report) (out []call) {
		for _, i := range r.firstFrames() {
			t := &r.Threads[r.FirstThread]
			out = append(out, call{t.Number(i), r.InFunction(&t.Frames[i], name)})
		}
		return out
	}
	x, y := calls(a), calls(b)
	inner := 0
	for inner < len(x) && inner < len(y) && x[inner].function == y[inner].function {
		inner++
	}
	outer := 0
	for outer < len(x)-inner && outer < len(y)-inner && x[len(x)-1-outer].function == y[len(y)-1-outer].function {
		outer++
	}
	at := func(list []call, i, end int) call {
		if i < end {
			return list[i]
		}
		return call{number: -1}
	}
	add := func(x, y call) {
		number := x.number
		if number < 0 {
			number = y.number
		}
		d.add("stack", fmt.Sprint(number), x.function, y.function)
	}
	for i := 0; i < inner; i++ {
		add(x[i], y[i])
	}
	for i := inner; i < max(len(x), len(y))-outer; i++ {
		add(at(x, i, len(x)-outer), at(y, i, len(y)-outer))
		if i == inner {
			d.FirstFrame = at(x, i, len(x)).number
			if d.FirstFrame < 0 {
				d.FirstFrame = y[i].number
			}
			d.Rows[len(d.Rows)-1].First = true
		}
	}
	for i := outer; i > 0; i-- {
		add(x[len(x)-i], y[len(y)-i])
	}
}

// modules lists the modules that one dump lacks, or has in another version or build.
func (d *Difference) modules(a, b *Report) {
	version := func(m *Module) string {
		if m.Version == "0.0.0.0" {
			return ""
		}
		return m.Version
	}
	text := func(m *Module) string {
		if s := strings.TrimSpace(version(m) + " " + m.DebugID); s != "" {
			return s
		}
		if m.CodeID != "" {
			return m.CodeID
		}
		return "without an id"
	}
	// A version that only one dump has is not a difference: another program wrote that dump.
	same := func(x, y *Module) bool {
		return text(x) == text(y) || x.DebugID != "" && x.DebugID == y.DebugID && (version(x) == "" || version(y) == "")
	}
	// Modules are compared by name; of several with one name the first with the first, and so on.
	type occurrence struct {
		title string
		n     int
	}
	list := func(r *Report) (keys []occurrence, all map[occurrence]*Module) {
		all = map[occurrence]*Module{}
		count := map[string]int{}
		for i := range r.Modules {
			if m := &r.Modules[i]; !m.Merged {
				k := occurrence{m.Title(), count[m.Title()]}
				count[k.title]++
				keys, all[k] = append(keys, k), m
			}
		}
		return keys, all
	}
	keys, inA := list(a)
	others, inB := list(b)
	for _, k := range keys {
		switch m, o := inA[k], inB[k]; {
		case o == nil:
			d.add("module", k.title, text(m), "")
		case same(m, o):
			d.SameModules++
		default:
			d.add("module", k.title, text(m), text(o))
		}
	}
	for _, k := range others {
		if inA[k] == nil {
			d.add("module", k.title, "", text(inB[k]))
		}
	}
}

// firstRegs returns the registers of the thread that is shown first, or nil.
func (r *Report) firstRegs() *cpu.Regs {
	if r.FirstThread < 0 || len(r.Threads[r.FirstThread].Frames) == 0 {
		return nil
	}
	if regs := r.Threads[r.FirstThread].Frames[0].Regs; regs != nil && regs.Arch != nil {
		return regs
	}
	return nil
}

// registers compares the first frames' registers, by name.
func (d *Difference) registers(a, b *Report) {
	values := func(r *Report) map[string]string {
		out := map[string]string{}
		if regs := r.firstRegs(); regs != nil {
			for i, name := range regs.Arch.Names {
				if v, ok := regs.Get(cpu.Reg(i)); ok {
					out[name] = fmt.Sprintf("0x%x", v)
				}
			}
		}
		return out
	}
	x, y := values(a), values(b)
	for _, r := range []*Report{a, b} {
		if regs := r.firstRegs(); regs != nil {
			for _, name := range regs.Arch.Names {
				d.add("register", name, x[name], y[name])
				delete(x, name)
				delete(y, name)
			}
		}
	}
}

// annotations compares the annotations, by name, and those without a name by where they are from.
func (d *Difference) annotations(a, b *Report) {
	key := func(n *Annotation) string { return cmp.Or(n.Name, n.From) }
	values := func(r *Report) map[string]string {
		out := map[string]string{}
		for i := range r.Annotations {
			n := &r.Annotations[i]
			if _, ok := out[key(n)]; !ok {
				out[key(n)] = n.Value
			}
		}
		return out
	}
	x, y := values(a), values(b)
	for _, r := range []*Report{a, b} {
		for i := range r.Annotations {
			k := key(&r.Annotations[i])
			// Two values that are hidden may differ or not.
			if x[k] != hidden || y[k] != hidden {
				d.add("annotation", k, x[k], y[k])
			}
			delete(x, k)
			delete(y, k)
		}
	}
}
