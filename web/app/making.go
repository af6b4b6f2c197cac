package app

import (
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Modules: what is known of one, whether its call frame information is used, and symbol files made of binaries.

// Making is a symbol file that is being written, by a worker of its own: the page's engine goes on meanwhile, and cancelling ends
// nothing else.
type Making struct {
	name string // of the binary; "" if there is none
	text string
}

// selectModule shows what is known of a module, or nothing more if it is shown already.
func (p *Page) selectModule(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n == p.Module {
		n = -1
	}
	p.Module = n
	p.ask(partModules)
}

// detail is never nil, so that the component need not ask.
func (p *Page) detail() *view.ModuleDetail {
	if p.Module < 0 || p.Modules.Detail == nil || p.Modules.Detail.Index != p.Module {
		return &view.ModuleDetail{Index: -1}
	}
	return p.Modules.Detail
}

// ignoreCFI has the stacks walked without a module's call frame information, or with it again.
func (p *Page) ignoreCFI(arg string) {
	d := p.detail()
	if strconv.Itoa(d.Index) != arg || d.Index < 0 {
		return
	}
	p.decide(&protocol.IgnoreCFI{Dump: p.Dump, Module: d.Index, On: !d.Ignored})
	p.ask(partsAll)
}

func ignoreText(d *view.ModuleDetail) string {
	if d.Ignored {
		return "Use its CFI again"
	}
	return "Ignore its CFI"
}

// symbolWords is a module's row in the table: the state, and what the files have.
func symbolWords(m view.ModuleRow) string {
	if m.Has == "" || m.State == "missing" || m.State == "mismatch" || m.State == "forced" {
		return m.Word
	}
	return m.Word + ": " + m.Has
}

// knowBinaries remembers the files that symbol files can be made of, with their debug files.
func (p *Page) knowBinaries(f File, items []protocol.FileRow) {
	for _, it := range items {
		if it.Kind == "binary" && it.Usable && !slices.Contains(p.binaries, f) {
			p.binaries = append(p.binaries, f)
			return
		}
	}
}

// makeSym begins to write the symbol file of a binary, an item's name.
func (p *Page) makeSym(name string) {
	if name == "" || p.Making.name != "" || len(p.binaries) == 0 {
		return
	}
	p.Making = Making{name, "Reading " + view.Clean(view.BaseName(name))}
	p.Engine.Make(p.binaries, &protocol.WriteSym{Name: name})
}

// MakingProgress says how far that is.
func (p *Page) MakingProgress(g protocol.Progress) {
	name := view.Clean(view.BaseName(p.Making.name))
	switch {
	case p.Making.name == "":
	case g.Stage == "reading":
		p.Making.text = "Reading " + name + ", " + view.Size(g.Done)
	default:
		p.Making.text = "Writing symbols of " + name + ", " + view.Size(g.Done)
	}
}

// Made says that the file was handed to the browser, under which name, or what the problem was. With both, it lacks what could not be read.
func (p *Page) Made(name, problem string) {
	of := view.Clean(view.BaseName(p.Making.name))
	p.Making = Making{}
	switch {
	case problem == "":
		p.toast(name + " written")
	case name != "":
		p.say("warning", name+" lacks what could not be read: "+view.Clean(problem)+".")
	default:
		p.say("error", "No symbol file could be made of "+of+": "+view.Clean(problem)+".")
	}
}

func (p *Page) stopMaking() bool {
	if p.Making.name == "" {
		return false
	}
	p.Making = Making{}
	p.Engine.StopMaking()
	return true
}

// canMake are the binaries of the files that are listed: on the start page one can make their symbol files without a dump.
func (p *Page) canMake() []protocol.FileRow {
	var out []protocol.FileRow
	for _, f := range p.Files.Rows {
		if isBinary(f) && len(out) < 4 {
			out = append(out, f)
		}
	}
	return out
}

func isBinary(f protocol.FileRow) bool { return f.Kind == "binary" && f.Usable }

func makeText(f protocol.FileRow) string { return "Download " + view.BaseName(f.Name) + ".sym" }

// modulesClass makes room beside the table for what is known of a module.
func (p *Page) modulesClass() string {
	if p.detail().Index < 0 {
		return "beside"
	}
	return "beside open"
}
