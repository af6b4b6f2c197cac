package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Indexing tracks the background pass over large symbol files. To show a stack at once, the engine
// only searches a large file (symfile/lazy). Then it makes the file's full index, with workers of
// its own, and the search is not needed any more. The user need not wait for it, and can stop it.
type Indexing struct {
	page    *Page
	running map[int]bool // items that are being indexed
	begun   map[int]bool // items whose pass has begun or ended
	stopped bool         // by the user; the next drop allows passes again
}

// start begins the passes over files that have no full index yet. Of a file on a server only parts
// are read, unless the user wants all of it (Downloads.readAll).
func (z *Indexing) start(items []int) {
	for _, it := range items {
		if !z.begun[it] && !z.stopped && !z.page.Work.Downloads.IsPartial(it) {
			z.begun[it] = true
			z.begin(it)
		}
	}
}

// begin begins the pass over a file.
func (z *Indexing) begin(item int) {
	if !z.running[item] {
		z.running[item] = true
		z.page.send(&protocol.IndexFile{Item: item, Keep: z.page.Panel.Files.Kept.On}, nil)
	}
}

// indexed handles the end of a pass. It reports whether the page must be drawn.
func (z *Indexing) indexed(r *protocol.FileIndexed, problem string) (draw bool) {
	if !z.running[r.Item] {
		return false // it was stopped
	}
	delete(z.running, r.Item)
	if len(z.running) == 0 {
		z.page.Work.Background.end()
	}
	if problem != "" {
		z.page.Work.Downloads.StopAll()
		z.page.Notices.Show("warning", problem)
		return true
	}
	z.page.Work.Downloads.Indexed(r.Item)
	if z.page.Panel.Files.Kept.On {
		z.page.Panel.Files.Kept.Measure()
	}
	z.page.Screen.AskAll()
	return true
}

// stopByUser ends the passes at the user's request, until the next drop. Their files stay searched.
func (z *Indexing) stopByUser() {
	for item := range z.running {
		delete(z.begun, item)
	}
	z.running, z.stopped = map[int]bool{}, true
	z.page.Work.Downloads.StopAll()
	z.page.send(&protocol.StopIndexing{}, nil)
	z.page.Work.Background.end()
	z.page.Notices.Show("note", "Stopped. The symbol files were not fully indexed.")
}

// forget prepares for a new engine, which numbers its files from the start.
func (z *Indexing) forget() {
	z.running, z.begun, z.stopped = map[int]bool{}, map[int]bool{}, false
	z.page.Work.Downloads.ForgetItems()
	z.page.Work.Background.end()
}

// reportChanged says how many frames are different with the full index.
func (z *Indexing) reportChanged(n int) {
	if n > 0 {
		frames := "1 frame changed and is highlighted"
		if n > 1 {
			frames = rows.Number(n) + " frames changed and are highlighted"
		}
		z.page.Notices.Show("note", frames+" for a moment. The symbol file is not sorted, so searching it gave wrong answers.")
	}
}
