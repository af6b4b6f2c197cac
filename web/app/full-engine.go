package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
)

// FullEngine loads the full engine. The engine that every page starts with reads dumps and symbol
// files. The full engine also reads binaries and more kinds of compressed files; it is larger, and
// is fetched when the user drops the first file that needs it.
type FullEngine struct {
	page        *Page
	state       fullEngineState
	done, total int64
	files       []File // waiting for it
	expected    bool   // it is loaded for the names of files, and no content has asked for it yet
}

type fullEngineState int

const (
	fullEngineAbsent fullEngineState = iota
	fullEngineLoading
	fullEngineLoaded
)

// want begins to load the full engine, and keeps the files that need it until it is there. Without
// files it is needed for the programs in a dump's memory.
func (z *FullEngine) want(f ...File) {
	z.files, z.expected = append(z.files, f...), false
	z.load(f)
}

// expect begins to load the full engine if the names of dropped files say that it will be needed.
// The first engine reads the files meanwhile, and says which ones are.
func (z *FullEngine) expect(dropped []File) {
	if z.state == fullEngineAbsent && slices.ContainsFunc(dropped, namedLikeBinary) {
		z.expected = true
		z.load(dropped)
	}
}

// namedLikeBinary reports whether a file is named like those that the full engine reads.
func namedLikeBinary(f File) bool {
	name := strings.ToLower(f.Name())
	return slices.Contains([]string{"exe", "dll", "sys", "pdb", "so", "debug", "dwo", "dwp", "zst", "xz", "cab"}, name[strings.LastIndexByte(name, '.')+1:])
}

// load begins to load the full engine, unless that has begun.
func (z *FullEngine) load(f []File) {
	if z.state == fullEngineAbsent {
		z.state, z.done, z.total = fullEngineLoading, 0, 0
		z.page.Host.Announce("Loading the reader for " + waitingNames(f))
		z.page.Engine.Extend()
	}
}

// Extending reports how many bytes of the full engine have been loaded; total is 0 if it is not
// known.
func (z *FullEngine) Extending(done, total int64) { z.done, z.total = done, total }

// Extended is called when the full engine is loaded, or with the problem. The full engine replaces
// the first one and reads all files again, those that the first one has read before the others.
// What is on the screen stays until there is a new result.
func (z *FullEngine) Extended(problem string) {
	if z.state != fullEngineLoading {
		return
	}
	waiting, expected := z.files, z.expected
	*z = FullEngine{page: z.page, state: fullEngineLoaded}
	if problem != "" {
		z.state = fullEngineAbsent
		if expected {
			return // a file that needs it tries again
		}
		z.page.Notices.show("warning", fmt.Sprintf("Crashpane could not load its reader for %s (%s). To try again, add the files again.",
			waitingNames(waiting), view.Clean(problem)))
		// The engine has listed them: the Files tab says what they are.
		z.page.Reading.accepted = append(z.page.Reading.accepted, waiting...)
		return
	}
	if z.page.Reading.reading != nil {
		waiting = append(waiting, z.page.Reading.reading)
		z.page.Reading.reading = nil
	}
	waiting = append(waiting, z.page.Reading.queue...)
	z.page.Reading.queue = nil
	if !z.page.Reading.stopped {
		z.page.Engine.Restart()
	}
	z.page.Reading.restore()
	z.page.Reading.Job.again = true
	z.page.Screen.resetRevisions()
	z.page.Reading.queue = append(z.page.Reading.queue, waiting...)
	z.page.Reading.Job.Total += len(waiting)
	z.page.Reading.next()
}

// stop cancels loading, and returns how many files were waiting for it.
func (z *FullEngine) stop() int {
	if z.state != fullEngineLoading {
		return 0
	}
	z.page.Engine.StopExtending()
	n := len(z.files)
	*z = FullEngine{page: z.page}
	return n
}

// waitingNames returns the name of a single file, or how many files there are.
func waitingNames(files_ []File) string {
	if len(files_) == 0 {
		return "the programs in the dump"
	}
	if len(files_) == 1 {
		return view.Clean(view.BaseName(files_[0].Name()))
	}
	return files(len(files_))
}
