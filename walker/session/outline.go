package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Outline is a symbol file, or a binary with what belongs to it, opened without a dump. It looks addresses
// up as the walk does, and lists functions, source files and lines: of a symbol file by reading its
// records, of a binary by those that "crashpane dumpsyms" makes of it. Close it after use.
type Outline struct {
	fs   *Files
	item int
	file *symbols.File
	code *symbols.File // the program of a symbol file, once it was looked for and found
	arch *cpu.Arch
	base uint64
	// src has the records, text reads them; both are nil before a list is asked for.
	src      *input.Source
	text     *symfile.File
	revision int64
	// all is the list of all functions, found the last other one.
	all, found *outlineList
	// names are the paths of source files by their numbers, filed: of all files.
	names map[uint32]string
	filed bool
}

// Outline opens the symbol file or binary of an item. It reads nothing yet.
func (fs *Files) Outline(item int) (*Outline, error) {
	f := fs.file(item)
	if f == nil {
		return nil, fmt.Errorf("there is no symbol file or binary number %d", item)
	}
	fs.store.Use(f)
	o := &Outline{fs: fs, item: item, file: f, revision: f.Revision(), arch: dumpsyms.CPU(f.Known.Arch)}
	f.WithBinary(func(b symbols.Binary) { o.base = b.Base() })
	return o, nil
}

// Close ends the use of the file.
func (o *Outline) Close() {
	o.all.drop(o)
	o.found.drop(o)
	for _, name := range o.names {
		o.fs.budget.Return(int64(len(name)) + entryMemory)
	}
	o.fs.store.Release(o.file)
	if o.code != nil {
		o.fs.store.Release(o.code)
	}
}

// Unindexed reports whether the file is a symbol file without a full index, which would tell all
// its warnings.
func (o *Outline) Unindexed() (is bool) {
	o.file.WithSym(false, func(s *symfile.File) { is = !s.FullyIndexed() })
	return is
}

// Stale reports whether the file has changed since, by another one that is a part of it: it must be opened
// again.
func (o *Outline) Stale() bool { return o.file.IsBinary && o.revision != o.file.Revision() }

// IsBinary reports whether the file is a binary, and not a symbol file.
func (o *Outline) IsBinary() bool { return o.file.IsBinary }

// Item returns the number of the file.
func (o *Outline) Item() int { return o.item }

// In sets the address that the module has in a dump's process, if a module of the dump uses the file.
func (o *Outline) In(s *Session) {
	for i := range s.modules {
		if ms := &s.modules[i]; (ms.item == o.file || ms.bin == o.file) && ms.unplaced == "" {
			o.base = s.Modules[i].Base
			return
		}
	}
}

// ItemOf returns the item that has the outline of a dump's module, or -1: its binary if that has more
// than a symbol file, else the symbol file.
func (s *Session) ItemOf(module int) int {
	if module < 0 || module >= len(s.modules) {
		return -1
	}
	if f := s.modules[module].item; f != nil {
		return s.itemOf(f)
	}
	if f := s.modules[module].bin; f != nil {
		return s.itemOf(f)
	}
	return -1
}

// SymbolFiles returns the items of the symbol files of the dump's modules, and of the binaries of those without one,
// each once.
func (s *Session) SymbolFiles() (items []int) {
	for i := range s.modules {
		if f := cmp.Or(s.modules[i].item, s.modules[i].bin); f != nil {
			if item := s.itemOf(f); item >= 0 && !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
	}
	return items
}

// File describes the file. Its warnings are those that are known by now.
func (o *Outline) File() report.OutlineFile {
	k := &o.file.Known
	out := report.OutlineFile{Name: o.file.Name(), Module: k.Name, DebugID: k.ID, CodeID: k.CodeID, OS: k.OS, Arch: k.Arch, Base: o.base, WordSize: 8, Parts: []symbol.Part{}, Missing: []string{}}
	if o.arch != nil {
		out.WordSize = o.arch.WordSize
	}
	var warnings []string
	o.file.WithBinary(func(b symbols.Binary) {
		has := b.Has()
		out.Parts, out.Missing = has.Parts, has.Missing
		if has.NoProgram {
			out.Missing = append(out.Missing, symbol.MissingProgram(has.ProgramName, k.Arch))
		}
		warnings = b.Warnings()
	})
	for _, w := range warnings {
		o.file.Fail(errors.New(w))
	}
	o.file.WithSym(true, func(s *symfile.File) {
		part := func(is bool, what, section string) {
			if is {
				out.Parts = append(out.Parts, symbol.Part{What: what, File: o.file.Name(), Section: section})
			}
		}
		part(s.HasSymbols(), "functions", "FUNC, PUBLIC")
		part(s.HasLines(), "lines", "FILE")
		part(s.HasInlines(), "inlined calls", "INLINE")
		part(s.HasUnwind(), "unwind rules", "STACK")
	})
	out.Warnings, out.WarningCount = o.file.Warnings()
	return out
}

// open gets the records that lists are made of.
func (o *Outline) open() (err error) {
	if o.text != nil {
		return nil
	}
	if o.src = o.file.Source(); o.file.IsBinary {
		if o.src, err = o.written(); err != nil {
			return err
		}
	}
	o.src.Materialize()
	opt := o.file.Options()
	opt.Progress = nil
	o.text, err = symfile.OpenOnDemand(o.src, opt)
	return err
}

// written makes the records of a binary, outside of memory if there is a place.
func (o *Outline) written() (*input.Source, error) {
	if o.fs.opt.WriteSym == nil {
		return nil, fmt.Errorf("%s: this program lists no functions of binaries", o.file.Name())
	}
	from := o.file.Source()
	w := &recordWriter{src: from, progress: func(n int64) { o.fs.opt.progress("reading symbols", from.Name, n, 0) }}
	if from.CanSpool() {
		var err error
		if w.spool, err = from.NewSpool(); err != nil {
			return nil, err
		}
	}
	var err error
	if !o.file.WithBinary(func(b symbols.Binary) { err = o.fs.opt.WriteSym(w, b) }) {
		err = o.file.Err()
	}
	if err != nil {
		return nil, err
	}
	if w.spool == nil {
		return from.DeriveBytes(from.Name, w.data), nil
	}
	return from.Derive(from.Name, w.spool, w.size), nil
}

// recordWriter keeps records in a spool, or in memory.
type recordWriter struct {
	src      *input.Source
	spool    input.Spool
	data     []byte
	size     int64
	progress func(n int64)
	reported int64
}

func (w *recordWriter) Write(p []byte) (int, error) {
	if w.spool == nil {
		if err := w.src.Draw(input.Memory, int64(len(p))); err != nil {
			return 0, err
		}
		w.data = append(w.data, p...)
	} else if _, err := w.spool.WriteAt(p, w.size); err != nil {
		return 0, err
	}
	w.size += int64(len(p))
	if w.size-w.reported > 1<<20 {
		w.reported = w.size
		w.progress(w.size)
		return len(p), w.src.Cancelled()
	}
	return len(p), nil
}

var _ io.Writer = (*recordWriter)(nil)

// OutlineWish is a list of an outline: functions whose names contain Text, files whose paths do, or
// the code of a line ("file.c:12") or of a file ("file.c:", its functions). Most limits the rows if it is not 0.
type OutlineWish struct {
	Kind, Text string
	Most       int
}

// ParseOutline says what a text that a user has typed asks for: an address (0x4011d0), a line of a file, or
// functions with that name.
func ParseOutline(text string) (wish OutlineWish, address uint64, isAddress bool) {
	text = strings.TrimSpace(text)
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		if a, err := strconv.ParseUint(strings.ReplaceAll(digits, "`", ""), 16, 64); err == nil {
			return OutlineWish{}, a, true
		}
	}
	if file, line, ok := cutLine(text); ok && (line != "" || strings.Contains(file, ".")) {
		return OutlineWish{Kind: report.OutlineLines, Text: text}, 0, false
	}
	return OutlineWish{Kind: report.OutlineFunctions, Text: text}, 0, false
}

// cutLine divides "file.c:12" and "file.c:".
func cutLine(text string) (file, line string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 || text[i-1] == ':' || strings.Trim(text[i+1:], "0123456789") != "" {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

// maxOutline limits the rows of a list that is not of all functions: a person types on rather than read more.
const maxOutline = 1 << 16

// entryMemory is what a row of a list takes, in bytes.
const entryMemory = 40

// outlineList is a list, which is made in steps.
type outlineList struct {
	wish  OutlineWish
	scan  *symfile.Scan
	rows  []outlineEntry
	ended bool
	more  bool
	next  uint32
	err   error
	// last is the function of the last row; of lines of a file, each function is listed once.
	last  symfile.Entry
	drawn int64 // of memory
	// unnamed: lines came before the FILE records of their files, as no writer has it.
	unnamed bool
}

// outlineEntry is a row: a function, or code of a line in one, or a source file by its number.
type outlineEntry struct {
	symfile.Entry
	at         symbol.Range
	file, line uint32
}

// List makes a window of a list. It goes on with reading for about step bytes, until Ended. A list that is
// begun drops the one before.
func (o *Outline) List(wish OutlineWish, from, count int, step int64) (*report.OutlineList, error) {
	wish.Text = strings.TrimSpace(wish.Text)
	if err := o.open(); err != nil {
		return &report.OutlineList{Kind: wish.Kind, Text: wish.Text, Rows: []report.OutlineRow{}, Ended: true}, err
	}
	whole := wish == OutlineWish{Kind: report.OutlineFunctions}
	l := o.found
	if whole {
		l = o.all
	}
	if l == nil || l.wish != wish {
		l = &outlineList{wish: wish, scan: symfile.NewScan(o.src)}
		if whole {
			o.all = l
		} else {
			o.found.drop(o)
			o.found = l
		}
	}
	if !l.ended {
		l.step(o, step)
	}
	out := &report.OutlineList{Kind: wish.Kind, Text: wish.Text, Total: len(l.rows), Rows: []report.OutlineRow{}, Done: min(l.scan.At, o.src.Size), Size: o.src.Size, Ended: l.ended, More: l.more}
	if l.ended && len(l.rows) == 0 {
		out.NextLine = l.next
	}
	out.From = max(0, min(from, len(l.rows)))
	for i := out.From; i < min(len(l.rows), out.From+max(0, count)); i++ {
		row, err := o.row(l, i)
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, l.err
}

// RowOf returns the number of the last row of the list that List has made that begins at or before an address, or -1 if the list
// is not complete.
func (o *Outline) RowOf(wish OutlineWish, address uint64) int {
	for _, l := range []*outlineList{o.all, o.found} {
		if l != nil && l.wish == wish && l.ended && wish.Kind != report.OutlineFiles {
			rva := o.rva(address)
			return sort.Search(len(l.rows), func(i int) bool { return l.rows[i].key() > rva }) - 1
		}
	}
	return -1
}

// rva is the reverse of address.
func (o *Outline) rva(address uint64) uint64 {
	if o.arch == nil {
		return address - o.base
	}
	return o.arch.Mask(address - o.base)
}

// row describes a row of a list.
func (o *Outline) row(l *outlineList, i int) (report.OutlineRow, error) {
	e := &l.rows[i]
	if l.wish.Kind == report.OutlineFiles {
		return report.OutlineRow{ID: i, File: o.names[e.file]}, nil
	}
	s, err := o.text.Described(e.Entry)
	row := report.OutlineRow{ID: i, Address: o.address(e.RVA), Size: s.Size, Name: report.Name{Raw: s.Name, Linked: o.file.IsBinary}, Public: s.Public, Multiple: s.Multiple}
	if l.wish.Kind == report.OutlineLines {
		row.Address, row.Size, row.File, row.Line = o.address(e.at.Start), e.at.Size, o.names[e.file], e.line
	}
	return row, err
}

// step reads on.
func (l *outlineList) step(o *Outline, n int64) {
	v := symfile.Visit{File: func(number uint32, name []byte) {
		if _, has := o.names[number]; !o.filed && !has {
			if o.names == nil {
				o.names = map[uint32]string{}
			}
			if err := o.fs.budget.Draw(input.Memory, int64(len(name))+entryMemory); err != nil && l.err == nil {
				l.err = err
			}
			o.names[number] = string(name)
		}
	}}
	switch l.wish.Kind {
	case report.OutlineFunctions:
		matches := o.matcher(l.wish.Text)
		v.Code = func(e symfile.Entry, name []byte) {
			if matches(name) {
				l.add(o, outlineEntry{Entry: e})
			}
		}
	case report.OutlineLines:
		v.Line = l.lines(o)
	}
	for goal := l.scan.At + n; l.err == nil && !l.scan.Ended() && l.scan.At < goal && !l.more; {
		l.err = l.scan.Step(stepOfOutline, v)
		if err := o.src.Cancelled(); err != nil && l.err == nil {
			l.err = err
		}
	}
	if l.ended = l.err != nil || l.scan.Ended() || l.more; !l.ended {
		return
	}
	o.filed = o.filed || l.scan.Ended()
	if l.unnamed && l.err == nil && !l.more { // the names of some files follow their lines
		l.drop(o)
		*l = outlineList{wish: l.wish, scan: symfile.NewScan(o.src)}
		return
	}
	if l.wish.Kind == report.OutlineFiles {
		l.files(o)
	}
	// Writers sort functions; public names follow them.
	sort.SliceStable(l.rows, func(i, j int) bool { return l.rows[i].key() < l.rows[j].key() })
}

// stepOfOutline is how much is read at once.
const stepOfOutline = 1 << 20

func (e *outlineEntry) key() uint64 {
	if e.at.Size > 0 {
		return e.at.Start
	}
	return e.RVA
}

func (l *outlineList) draw(o *Outline, n int64) bool {
	if err := o.fs.budget.Draw(input.Memory, n); err == nil {
		l.drawn += n
	} else if l.err == nil {
		l.err = err
	}
	return l.err == nil
}

// drop gives the memory of a list back.
func (l *outlineList) drop(o *Outline) {
	if l != nil {
		o.fs.budget.Return(l.drawn)
	}
}

func (l *outlineList) add(o *Outline, e outlineEntry) {
	if l.more = l.more || l.wish.Text != "" && len(l.rows) >= cmp.Or(l.wish.Most, maxOutline); !l.more && l.draw(o, entryMemory) {
		l.rows = append(l.rows, e)
	}
}

// files lists the source files whose paths contain the text, by path.
func (l *outlineList) files(o *Outline) {
	text := strings.ToLower(l.wish.Text)
	for number, name := range o.names {
		if strings.Contains(strings.ToLower(name), text) {
			l.rows = append(l.rows, outlineEntry{file: number})
		}
	}
	sort.Slice(l.rows, func(i, j int) bool {
		a, b := l.rows[i].file, l.rows[j].file
		if o.names[a] != o.names[b] {
			return o.names[a] < o.names[b]
		}
		return a < b
	})
}

// lines finds the code of a line, the first of it where several records follow each other, or each
// function with code of a file.
func (l *outlineList) lines(o *Outline) func(of symfile.Entry, at symbol.Range, line, file uint32) {
	path, number, _ := cutLine(l.wish.Text)
	path = strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	want, err := strconv.ParseUint(number, 10, 32)
	each := err != nil // of the file
	is := map[uint32]bool{}
	known := map[uint32]bool{}
	end, in := uint64(0), symfile.Entry{}
	return func(of symfile.Entry, at symbol.Range, line, file uint32) {
		if !known[file] {
			name, named := o.names[file]
			known[file], is[file] = named, endsWithPath(name, path)
			l.unnamed = l.unnamed || !named && !o.filed
		}
		if !is[file] {
			return
		}
		e := outlineEntry{Entry: of, at: at, file: file, line: line}
		switch {
		case each:
			if l.last != of || len(l.rows) == 0 {
				l.last = of
				l.add(o, e)
			}
		case uint64(line) == want:
			if at.Start != end || of != in || len(l.rows) == 0 {
				l.add(o, e)
			}
			end, in = at.Start+at.Size, of
		case uint64(line) > want && (l.next == 0 || line < l.next):
			l.next = line
		}
	}
}

// endsWithPath reports whether a path ends in another one, in lower case, at the beginning of a name.
func endsWithPath(path, end string) bool {
	path = strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	rest, ok := strings.CutSuffix(path, end)
	return ok && end != "" && (rest == "" || strings.HasSuffix(rest, "/") || strings.HasPrefix(end, "/"))
}

func (o *Outline) address(rva uint64) uint64 {
	if o.arch == nil {
		return o.base + rva
	}
	return o.arch.Mask(o.base + rva)
}

// At says what the file has at an address: by the lookups of a walk. With lines it adds a window of the
// lines of the function, which needs the records of a binary; from -1 is around the address.
func (o *Outline) At(address uint64, lines bool, from, count int) (*report.OutlinePlace, error) {
	rva := o.rva(address)
	out := &report.OutlinePlace{Address: address, Inlines: []report.OutlineCall{}, Lines: []report.OutlineLine{}, At: -1}
	s, answer, err := o.file.Lookup(rva)
	if input.Needs(err) {
		return out, err
	}
	if answer == symbol.Yes && s.Name != "" {
		out.Function = report.OutlineRow{Address: o.address(s.Start), Size: s.Size, Name: report.Name{Raw: s.Name, Linked: o.file.IsBinary}, Public: s.Public, Multiple: s.Multiple}
		out.Extent, out.ParamSize = s.Extent, s.ParamSize
		out.File, out.Line, out.HasLine = s.File, s.Line, s.HasLine
		for _, in := range s.Inlines {
			out.Inlines = append(out.Inlines, report.OutlineCall{Name: report.Name{Raw: in.Name, Linked: o.file.IsBinary}, File: in.File, Line: in.Line})
		}
	}
	o.addRule(out, rva)
	if err != nil || !lines || out.Function.Name.Raw == "" || s.Public {
		return out, err
	}
	return out, o.lines(out, s.Start, rva, from, count)
}

// lines adds a window of the lines of a function.
func (o *Outline) lines(out *report.OutlinePlace, start, rva uint64, from, count int) error {
	if err := o.open(); err != nil {
		return err
	}
	e, ok, err := o.text.FunctionAt(start)
	if err != nil || !ok {
		return err
	}
	all, err := o.text.Lines(e)
	if err != nil {
		return err
	}
	out.LinesTotal = len(all)
	for i, l := range all {
		if rva-l.Start < l.Size {
			out.At = i
		}
	}
	if from < 0 {
		from = max(0, out.At-count/2)
	}
	out.LinesFrom = max(0, min(from, len(all)))
	for _, l := range all[out.LinesFrom:min(len(all), out.LinesFrom+max(0, count))] {
		s, err := o.text.In(e, l.Start)
		if err != nil {
			return err
		}
		line := report.OutlineLine{Address: o.address(l.Start), Size: l.Size, File: s.File, Line: s.Line, Inlined: []report.Name{}}
		for i, in := range s.Inlines {
			if i == 0 {
				line.File, line.Line = in.File, in.Line
			}
			line.Inlined = append(line.Inlined, report.Name{Raw: in.Name, Linked: o.file.IsBinary})
		}
		out.Lines = append(out.Lines, line)
	}
	return nil
}

// addRule adds how the caller is found at an address.
func (o *Outline) addRule(out *report.OutlinePlace, rva uint64) {
	if o.arch == nil {
		out.NoRule = "the registers of its processor are not known"
		return
	}
	row, notes, answer, err := o.file.Row(o.arch, rva)
	if err == nil && answer == symbol.Yes {
		out.Rule = o.ruleOf(&row)
		out.Rule.Marks = append(out.Rule.Marks, notes...)
		return
	}
	if fd, answer, err := o.file.FrameData(rva); err == nil && answer == symbol.Yes {
		out.Rule = &report.OutlineRule{Origin: fd.Origin.String(), Text: frameDataText(&fd), Registers: []report.OutlineRegister{}, Marks: []string{}}
		return
	}
	switch out.NoRule = "the file has no unwind rules for this address"; {
	case err != nil:
		out.NoRule = err.Error()
	case row.Origin.Note != "":
		out.NoRule = row.Origin.String()
	}
}

func (o *Outline) ruleOf(row *unwind.Row) *report.OutlineRule {
	out := &report.OutlineRule{CFA: row.CFA.Value(o.arch), RA: row.RA.Location(o.arch), Origin: row.Origin.String(), Marks: append([]string{}, row.Marks()...), Registers: []report.OutlineRegister{}}
	for _, s := range row.Saved {
		if s.Rule.Kind != unwind.Unset {
			out.Registers = append(out.Registers, report.OutlineRegister{Name: o.arch.RegName(s.Reg), Rule: s.Rule.Location(o.arch)})
		}
	}
	return out
}

// frameDataText is a STACK WIN record: its program, or its sizes.
func frameDataText(fd *unwind.FrameData) string {
	if fd.HasProgram {
		return fd.Program
	}
	text := fmt.Sprintf("parameters %d bytes, saved registers %d, locals %d", fd.Params, fd.SavedRegs, fd.Locals)
	if fd.AllocatesBP {
		text += ", ebp is a general register"
	}
	return text
}
