package engine

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// outline is the file whose outline the page shows. It stays open, so that its lists are made once.
type outline struct {
	of   *session.Outline
	dump int
	view *view.View
}

// outlineStep is how many bytes of records are read before the engine answers.
const outlineStep = 16 << 20

// openOutline opens the outline of a file, or if item is -1 that of a module; nil if there is no such file.
func (e *Engine) openOutline(dump, item, module int) *session.Outline {
	s := e.session(dump)
	if item < 0 && s != nil {
		item = s.ItemOf(module)
	}
	o := &e.outline
	if o.of != nil && o.of.Item() == item && o.dump == dump && !o.of.Stale() {
		return o.of
	}
	e.closeOutline()
	opened, err := e.files.Outline(item)
	if err != nil {
		return nil
	}
	if s != nil {
		opened.In(s)
	}
	*o = outline{of: opened, dump: dump, view: view.New(opened.Report(), e.demangle)}
	return opened
}

func (e *Engine) closeOutline() {
	if e.outline.of != nil {
		e.outline.of.Close()
	}
	e.outline = outline{}
}

// outlinePage answers an OutlineQuery.
func (e *Engine) outlinePage(q protocol.Query) *rows.OutlinePage {
	w := q.Overview.Outline
	of := e.openOutline(q.Dump, w.Item, w.Module)
	if of == nil {
		return &rows.OutlinePage{Item: -1, Rows: []rows.OutlineRow{}, Empty: "There is no symbol file or program to outline.", Ended: true}
	}
	o := &report.Outline{}
	var problem error
	wish := session.OutlineWish{Kind: report.OutlineFiles, Text: w.Text}
	if !w.Files {
		wish, _, _ = session.ParseOutline(w.Text)
	}
	if w.List {
		o.List, problem = of.List(wish, w.Span.From, w.Span.Count, outlineStep)
	}
	if w.Place {
		from := w.Lines.From
		if w.Around {
			from = -1
		}
		var err error
		if o.Place, err = of.At(w.At, w.List, from, w.Lines.Count); problem == nil {
			problem = err
		}
	}
	o.File = of.File()
	page := e.outline.view.Outline(o)
	page.Item, page.Text, page.Selected = of.Item(), w.Text, -1
	if w.Place {
		page.Selected = of.RowOf(wish, w.At)
	}
	if problem != nil {
		page.Status = rows.Clean(problem.Error())
	}
	return page
}

// symbolSearch is a search for functions in the symbol files of a dump's modules, one file after the other.
type symbolSearch struct {
	dump  int
	text  string
	items []int // of the files that are left
	of    *session.Outline
	next  int64 // for Outline.Find
	rows  []rows.PlaceRow
	// symFiles and tables count the symbol files and the binaries that were searched.
	symFiles, tables int
}

// mostSymbols is how many functions a symbolSearch finds: a person types on rather than read more.
const mostSymbols = 16

func (f *symbolSearch) close() {
	if f.of != nil {
		f.of.Close()
	}
	*f = symbolSearch{}
}

// symbolsPage goes on with a search.
func (e *Engine) symbolsPage(q protocol.Query) *protocol.SymbolsPage {
	f := &e.symbols
	s := e.session(q.Dump)
	if s == nil {
		return &protocol.SymbolsPage{PlacesPage: protocol.PlacesPage{Of: q.Memory.Symbols.Text}, Ended: true}
	}
	if f.text != q.Memory.Symbols.Text || f.dump != q.Dump {
		f.close()
		*f = symbolSearch{dump: q.Dump, text: q.Memory.Symbols.Text, items: s.SymbolFiles()}
	}
	if len(f.items) > 0 && len(f.rows) < mostSymbols {
		e.searchSymbols(s)
	}
	return &protocol.SymbolsPage{PlacesPage: protocol.PlacesPage{Of: f.text, Rows: f.rows}, Ended: len(f.items) == 0 || len(f.rows) >= mostSymbols, Files: f.symFiles, Tables: f.tables}
}

// searchSymbols reads on in the next file. What cannot be read has no functions.
func (e *Engine) searchSymbols(s *session.Session) {
	f := &e.symbols
	if f.of == nil {
		of, err := e.files.Outline(f.items[0])
		if err != nil {
			f.items = f.items[1:]
			return
		}
		of.In(s)
		f.of, f.next = of, 0
	}
	found, next, err := f.of.Find(f.text, mostSymbols-len(f.rows), f.next, outlineStep)
	f.next = next
	if err != nil {
		f.next = -1
	}
	v := view.New(f.of.Report(), e.demangle)
	for _, r := range v.Outline(&report.Outline{File: f.of.File(), List: &report.OutlineList{Kind: report.OutlineFunctions, Rows: found}}).Rows {
		known := func(p rows.PlaceRow) bool { return p.Address == r.Address }
		if !slices.ContainsFunc(f.rows, known) { // programs have several symbol tables
			f.rows = append(f.rows, rows.PlaceRow{Title: r.Full, Note: rows.BaseName(rows.Clean(f.of.File().Name)), Address: r.Address})
		}
	}
	if f.next >= 0 {
		return
	}
	switch {
	case err != nil:
	case f.of.IsBinary():
		f.tables++
	default:
		f.symFiles++
	}
	f.of.Close()
	f.of, f.items = nil, f.items[1:]
}
