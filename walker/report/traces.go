package report

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
)

// Trace is a stack that the program kept in an annotation: where an exception was thrown, for
// example.
type Trace struct {
	// Source is the annotation's name.
	Source string
	// Frames are those of its addresses, which are return addresses, the youngest first. Their
	// Trust is "none".
	Frames []Frame
}

const (
	maxTraces      = 16
	maxTraceFrames = 256
)

// traces finds annotations that are lists of addresses, as Chromium's firstexception_bt is:
// "0x1030e7a8d 0x7ff80004dba3 …".
func (b *builder) traces() {
	b.r.Traces = []Trace{}
	if b.d.Crashpad == nil || b.in.Lookup == nil {
		return
	}
	for i := range b.d.Crashpad.Modules {
		for j := range b.d.Crashpad.Modules[i].Objects {
			a := &b.d.Crashpad.Modules[i].Objects[j]
			text, _ := a.Text()
			if list := b.addresses(text); len(list) > 0 && len(b.r.Traces) < maxTraces {
				t := Trace{Source: a.Name, Frames: []Frame{}}
				for _, pc := range list {
					t.Frames = append(t.Frames, b.traceFrame(pc))
				}
				b.r.Traces = append(b.r.Traces, t)
			}
		}
	}
}

// addresses returns those of a text that is nothing but two or more of them, mostly in
// modules; nil for any other.
func (b *builder) addresses(text string) (list []uint64) {
	inside := 0
	for word := range strings.FieldsSeq(text) {
		digits, ok := strings.CutPrefix(word, "0x")
		v, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil || len(list) == maxTraceFrames {
			return nil
		}
		list = append(list, v)
		if b.r.ModuleMap.Covers(v) {
			inside++
		}
	}
	if len(list) < 2 || 2*inside < len(list) {
		return nil
	}
	return list
}

// traceFrame makes a frame of a return address that the program itself recorded.
func (b *builder) traceFrame(pc uint64) Frame {
	f := walker.Frame{PC: pc, Lookup: pc, Answer: symbol.NoFile}
	if a := b.d.Arch(); a != nil {
		f.Lookup -= a.CallSize
	}
	if f.Module, f.RVA = b.r.ModuleMap.Find(f.Lookup); f.Module >= 0 {
		f.Symbol, f.Answer = b.in.Lookup(f.Module, f.RVA)
		b.r.Modules[f.Module].Frames-- // it is on no stack
	}
	return b.frame([]walker.Frame{f}, 0)
}

// Text returns a frame of a trace, "main + 0x12, in app" or "app+0x1234".
func (t *Trace) Text(r *Report, frame int, name func(Name) string) string {
	f := &t.Frames[frame]
	if f.Module < 0 {
		return "0x" + strconv.FormatUint(f.Lookup, 16)
	}
	module := r.Modules[f.Module].Title()
	if f.Named() {
		return name(f.Function) + " + 0x" + strconv.FormatUint(f.Lookup-f.FunctionStart, 16) + ", in " + module
	}
	return module + "+0x" + strconv.FormatUint(f.RVA, 16)
}
