package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// Making writes a symbol file from a binary. A worker of its own does the work, so the engine stays
// free, and cancelling ends nothing else.
type Making struct {
	page     *Page
	name     string      // of the binary; "" if none is being written
	text     string      // for the bar of work
	binaries []host.File // from which symbol files can be made, with their debug files
}

// addBinary remembers a file if a symbol file can be made from it.
func (z *Making) addBinary(f host.File, items []protocol.FileRow) {
	for _, it := range items {
		if it.Kind != "binary" || !it.Usable {
			continue
		}
		for _, f := range Members(f) {
			if !slices.Contains(z.binaries, f) {
				z.binaries = append(z.binaries, f)
			}
		}
		return
	}
}

// begin starts to write the symbol file of a binary, which is named like its item.
func (z *Making) begin(name string) {
	if name == "" || z.name != "" || len(z.binaries) == 0 {
		return
	}
	z.name, z.text = name, "Reading "+rows.Clean(rows.BaseName(name))
	z.page.Engine.Make(z.binaries, &protocol.WriteSym{Name: name})
}

// Progress shows a report of the worker.
func (z *Making) Progress(g protocol.Progress) {
	name := rows.Clean(rows.BaseName(z.name))
	switch {
	case z.name == "":
	case g.Stage == "reading":
		z.text = "Reading " + name + ", " + rows.Size(g.Done)
	default:
		z.text = "Writing symbols for " + name + ", " + rows.Size(g.Done)
	}
}

// Made is called when the browser has the file as a download, with its name, or with the problem.
// With both, the file is incomplete.
func (z *Making) Made(name, problem string) {
	of := rows.Clean(rows.BaseName(z.name))
	z.name, z.text = "", ""
	switch {
	case problem == "":
		z.page.Notices.Confirm(name + " written")
	case name != "":
		z.page.Notices.Show("warning", name+" is incomplete: "+rows.Clean(problem)+".")
	default:
		z.page.Notices.Show("error", "Crashpane could not make a symbol file from "+of+": "+rows.Clean(problem)+".")
	}
}

// stop cancels the work, and reports whether there was any.
func (z *Making) stop() bool {
	if z.name == "" {
		return false
	}
	z.name, z.text = "", ""
	z.page.Engine.StopMaking()
	return true
}

func makeText(f protocol.FileRow) string { return "Download " + rows.BaseName(f.Name) + ".sym" }
