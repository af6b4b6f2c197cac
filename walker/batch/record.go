// Package batch describes many dumps, each by one record: what happened, by what it can be grouped,
// where, and what is missing. A dump costs what the dump costs, however many there are: sessions share
// a store of symbols, and nothing of a dump stays but its record.
//
// Start at Describe. json.go writes records. database keeps them in a file.
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Options of Describe.
type Options struct {
	// Session are the options of the dumps' sessions. Its Store has the symbols, and is shared.
	Session session.Options
	// AllThreads: a record has the stacks of all threads, else that of the thread which crashed.
	AllThreads bool
	// Private: it has annotations, too.
	Private bool
	// Frames is how many frames a record has of a stack.
	Frames int
	// Demangle makes readable names, if the session does not.
	Demangle func(string) string
	// Lists make the symbol signature.
	Lists signature.Lists
	// Context, if it is set, ends the work on a dump when it is done. The record is then not whole.
	Context context.Context
}

// Record describes a dump. What the dump does not have is "", 0 or nil.
type Record struct {
	Name string // of the file, or of the member of an archive
	// ID is the same for equal dumps, whatever their names: SHA-256 of the size and of the first 64 MB, in
	// hexadecimal digits.
	ID   string
	Size int64 // bytes
	// Error says why the file is not a dump or cannot be read. The rest is empty then.
	Error string

	Process, Product, Version, OS, CPU string
	PID                                *uint32
	Time                               uint32  // seconds since 1970, UTC
	Uptime                             *uint64 // seconds
	// Reason is the exception's name, Verdict what happened, as a sentence.
	Reason, Verdict string
	// AddressSignature groups without symbols (signature.Address), Signature with them; "" without a
	// crash.
	AddressSignature, Signature string
	// Threads are the stacks: first that of the thread that crashed, or that asked for the dump.
	Threads []Thread
	Hang    *Hang    // nil after a crash, and where the dump does not show it
	Modules []Module // those on the stacks, in their order
	// Missing are the symbol files that the stacks lack.
	Missing     []Missing
	Annotations []report.Annotation // only if they are wanted
	Problems    []string            // what of the dump cannot be read, or was left out for its cost
	// Took is how long the record took to make.
	Took time.Duration
}

// Hang is why a process that did not crash may not go on: its threads wait for a lock that the thread Thread
// holds, as Why says.
type Hang struct {
	Thread int
	Why    string
}

// Thread is a stack.
type Thread struct {
	Index   int
	ID      uint32
	Name    string
	Crashed bool
	// Total is how many frames the stack has, without inlined calls. Complete: its end is proven.
	Total    int
	Complete bool
	Frames   []Frame
}

// Frame is a call, or an inlined call before the one that it is in.
type Frame struct {
	Function, Module, File string
	Line                   uint32
	// Offset is from the module's start. Trust is how the frame was found, see report.Frame.
	Offset uint64
	Trust  string
	Inline bool
	// Number is the frame's, which its inlined calls have too; Skipped is how many frames of a recursion are left
	// out before it (report.Frame).
	Number, Skipped int
}

// Module is a module of the dump.
type Module struct{ Name, Version, DebugFile, DebugID, CodeID string }

// Missing is a symbol file that Frames frames lack.
type Missing struct {
	DebugFile, DebugID string
	Frames             int
}

// Describe makes the records of a file: of the dump that it is, or of those in an archive. A file
// without a dump has one record, with an Error. Symbols in an archive are used for its dumps alone, in
// place of the shared ones.
func Describe(src *input.Source, opt Options) []Record {
	guess := intake.Sniff(src)
	if !guess.Kind.IsPacked() {
		return describeAll(src, &opt)
	}
	budget := &input.Budget{}
	budget.GiveFile(src)
	if opt.Context != nil {
		defer budget.Until(opt.Context)()
	}
	src.Budget, src.Spool = budget, opt.Session.Limits.Spool
	members, err := intake.Expand(src, opt.Session.Limits, func(string, int64, int64) error { return nil })
	for _, m := range members {
		if k := intake.Sniff(m).Kind; k == intake.Sym || k.IsBinary() {
			return describeAll(src, &opt)
		}
	}
	// Members are investigations of their own, so that what a dump takes is given back after it.
	var out []Record
	for _, m := range members {
		if records := describeAll(m, &opt); len(records) > 1 || records[0].Error == "" || intake.Sniff(m).Kind.IsDump() {
			out = append(out, records...)
		}
	}
	if err != nil || len(out) == 0 {
		out = append(out, failed(src, err))
	}
	return out
}

// failed is the record of a file without a dump.
func failed(src *input.Source, err error) Record {
	why := src.Name + ": not a crash dump, and no archive with one"
	if err != nil {
		why = err.Error()
	}
	return Record{Name: src.Name, Size: src.Size, Error: why}
}

// describeAll makes the records of the dumps in a file, with the symbols in it.
func describeAll(src *input.Source, opt *Options) []Record {
	began := time.Now()
	own := opt.Session
	own.Store = nil
	files := session.NewFiles(own)
	if opt.Context != nil {
		defer files.Budget().Until(opt.Context)()
	}
	items := files.Add(src)
	var out []Record
	for _, it := range items {
		if it.Dump < 0 {
			continue
		}
		s := files.Session(it.Dump)
		out = append(out, describe(s, files.HasSymbols(), opt))
		r := &out[len(out)-1]
		r.Name, r.Size = it.Name, it.Size
		if err := files.Budget().Err(); err != nil {
			r.Problems = append(r.Problems, "something was left out: "+err.Error())
		}
		r.Took, began = time.Since(began), time.Now()
		s.Close()
	}
	if len(out) == 0 {
		var why error
		for _, it := range items {
			if it.Message != "" {
				why = errors.New(it.Message)
				break
			}
		}
		out = append(out, failed(src, why))
		out[0].Took = time.Since(began)
	}
	return out
}

// describe makes the record of a dump. bare is its session without the shared symbols.
func describe(bare *session.Session, ownSymbols bool, opt *Options) Record {
	s, another, address := bare, bare.Dump.Another(), ""
	switch {
	case ownSymbols:
		address = AddressSignature(another, opt.Session)
	default:
		address = signature.Address(bare.PartialReport(-1))
		if opt.Session.Store != nil {
			s = session.New(another, opt.Session)
			defer s.Close()
		}
	}
	out := OfSession(s, opt)
	out.ID, out.AddressSignature = IDOf(bare.Src), address
	return out
}

// AddressSignature walks the thread of an opened dump that crashed, without symbols.
func AddressSignature(d *core.Dump, opt session.Options) string {
	opt.Store = symbols.New(symbols.Options{})
	s := session.New(d, opt)
	defer s.Close()
	return signature.Address(s.PartialReport(-1))
}

// OfSession makes the record of a dump with the symbols of its session, without what a session does not have: ID,
// AddressSignature, Name, Size and Took.
func OfSession(s *session.Session, opt *Options) (out Record) {
	r := s.PartialReport(-1)
	hangs := Hangs(r)
	if opt.AllThreads || hangs {
		r = s.Report()
	}
	if hangs {
		if waited := s.Merged().Holders; len(waited) > 0 { // by the number of threads that wait
			of := *r
			of.FirstThread = waited[0].Thread
			r, out.Hang = &of, &Hang{waited[0].Thread, waited[0].String()}
		}
	}
	if opt.Demangle != nil {
		r.Demangle(opt.Demangle)
	}
	out.fill(r, opt)
	return out
}

// Hangs reports whether a dump is without a crash. Then all of its threads say what its record is about.
func Hangs(r *report.Report) bool { return r.Crash == nil || r.Crash.Requested }

// IDOf returns a dump's Record.ID; "" if it cannot be read.
func IDOf(src *input.Source) string {
	const most, piece = 64 << 20, 1 << 20
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, src.Size)
	for at := int64(0); at < min(src.Size, most); at += piece {
		b, err := src.Bytes(at, min(piece, src.Size-at))
		if err != nil {
			return ""
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fill takes from a report what the record has of it.
func (out *Record) fill(r *report.Report, opt *Options) {
	if !opt.Private {
		r = r.Redacted()
	}
	p := &r.Process
	out.Process, out.Product, out.Version, out.PID, out.Uptime = p.Name, p.Product, p.Version, p.PID, p.Uptime
	out.OS, out.CPU, out.Time = r.System.OS, r.System.CPU, r.Dump.Time
	if r.Crash != nil {
		out.Reason = r.Crash.Reason.Name
	}
	for _, span := range view.New(r, nil).Verdict() {
		out.Verdict += span.Text
	}
	if out.Hang != nil {
		out.Signature = signature.OfHang(r, out.Hang.Thread, opt.Lists, report.Name.Shown)
	} else {
		out.Signature, _, _ = signature.OfReport(r, opt.Lists, report.Name.Shown)
	}
	out.threads(r, opt)
	for i := range r.Missing {
		m := &r.Missing[i]
		out.Missing = append(out.Missing, Missing{m.DebugFile, m.DebugID, m.Frames})
	}
	for _, d := range r.Diagnostics {
		if d.Severity == "error" {
			out.Problems = append(out.Problems, d.Text)
		}
	}
	if opt.Private {
		out.Annotations = r.Annotations
	}
}

// threads adds the stacks, that of the first thread before the others, and the modules on them.
func (out *Record) threads(r *report.Report, opt *Options) {
	order := []int{}
	if r.FirstThread >= 0 {
		order = append(order, r.FirstThread)
	}
	for i := range r.Threads {
		if opt.AllThreads && i != r.FirstThread {
			order = append(order, i)
		}
	}
	listed := map[int]bool{}
	for _, i := range order {
		t := &r.Threads[i]
		if t.Pending || t.Omitted {
			continue
		}
		for k := range t.Frames[:min(len(t.Frames), opt.Frames)] {
			if m := t.Frames[k].Module; m >= 0 && !listed[m] {
				listed[m] = true
				of := &r.Modules[m]
				out.Modules = append(out.Modules, Module{of.Title(), of.Version, report.BaseName(of.DebugFile), of.DebugID, of.CodeID})
			}
		}
		out.Threads = append(out.Threads, StackOf(r, i, 0, opt.Frames, opt.Private))
	}
}

// StackOf returns count frames of the stack of a thread, or what there is of them from a frame on. private: the names
// of users in paths stay.
func StackOf(r *report.Report, thread, from, count int, private bool) Thread {
	t := &r.Threads[thread]
	out := Thread{Index: t.Index, ID: t.ID, Name: t.Name, Crashed: t.Crashed, Total: t.Total(), Complete: t.Stop.Kind == string(walker.StopEnd), Frames: []Frame{}}
	from = min(max(from, 0), len(t.Frames))
	for k := from; k < min(from+count, len(t.Frames)); k++ {
		out.Frames = append(out.Frames, calls(r, t.Number(k), &t.Frames[k], private)...)
	}
	return out
}

// calls returns a frame and the inlined calls in it, which come first.
func calls(r *report.Report, number int, f *report.Frame, private bool) (out []Frame) {
	at := Frame{Offset: f.Lookup, Trust: f.Trust, Number: number}
	if f.Module >= 0 {
		at.Module, at.Offset = r.Modules[f.Module].Title(), f.RVA
	}
	add := func(function, file string, line uint32, inline bool) {
		if !private {
			file = report.HideUsers(file)
		}
		at.Function, at.File, at.Line, at.Inline = function, file, line, inline
		out = append(out, at)
	}
	for i := range f.Inlines {
		in := &f.Inlines[i]
		add(in.Function.Shown(), in.File, in.Line, true)
	}
	name := ""
	if f.Named() {
		name = f.Function.Shown()
	}
	add(name, f.File, f.Line, false)
	out[0].Skipped = f.Skipped
	return out
}
