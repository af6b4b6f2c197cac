package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Modules: what is known of one, whether its call frame information is used, and symbol files made of binaries.

// Making is a symbol file that is being written, by a worker of its own: the page's engine goes on meanwhile, and cancelling ends
// nothing else.
type Making struct {
	page     *Page
	name     string // of the binary; "" if there is none
	text     string
	binaries []File // of which symbol files can be made
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

// know remembers the files that symbol files can be made of, with their debug files.
func (z *Making) know(f File, items []protocol.FileRow) {
	for _, it := range items {
		if it.Kind == "binary" && it.Usable && !slices.Contains(z.binaries, f) {
			z.binaries = append(z.binaries, f)
			return
		}
	}
}

// begin begins to write the symbol file of a binary, an item's name.
func (z *Making) begin(name string) {
	if name == "" || z.name != "" || len(z.binaries) == 0 {
		return
	}
	z.name, z.text = name, "Reading "+view.Clean(view.BaseName(name))
	z.page.Engine.Make(z.binaries, &protocol.WriteSym{Name: name})
}

// Progress says how far that is.
func (z *Making) Progress(g protocol.Progress) {
	name := view.Clean(view.BaseName(z.name))
	switch {
	case z.name == "":
	case g.Stage == "reading":
		z.text = "Reading " + name + ", " + view.Size(g.Done)
	default:
		z.text = "Writing symbols for " + name + ", " + view.Size(g.Done)
	}
}

// Made says that the file was handed to the browser, under which name, or what the problem was. With both, it lacks what could not be read.
func (z *Making) Made(name, problem string) {
	of := view.Clean(view.BaseName(z.name))
	z.name, z.text = "", ""
	switch {
	case problem == "":
		z.page.Notices.toast(name + " written")
	case name != "":
		z.page.Notices.say("warning", name+" is incomplete: "+view.Clean(problem)+".")
	default:
		z.page.Notices.say("error", "Crashpane could not make a symbol file from "+of+": "+view.Clean(problem)+".")
	}
}

func (z *Making) stop() bool {
	if z.name == "" {
		return false
	}
	z.name, z.text = "", ""
	z.page.Engine.StopMaking()
	return true
}

func isBinary(f protocol.FileRow) bool { return f.Kind == "binary" && f.Usable }

func makeText(f protocol.FileRow) string { return "Download " + view.BaseName(f.Name) + ".sym" }
