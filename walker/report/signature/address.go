package signature

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// addressFrames is how many frames an address signature has at most.
const addressFrames = 5

// Address returns the address signature of a report that was made without symbols: the process, the
// reason, and the first frames as module and offset, with the module's debug id. Dumps with the same one
// crashed in the same code of the same build, so that the symbols of one of them name all. It is ""
// without a crash, and where the first frame is in no module.
//
//	app | SIGSEGV / SEGV_MAPERR | app@5A9832E5287241C1838ED98914E9B7FF1+0x1010 | libc.so.6@…+0x2724a
//
// Frames end before the first that was found by scanning, since such a frame may be a word that an
// earlier call has left there. If these are a system's libraries alone, as of a program that aborted, the first that
// scanning found in another module says which code it was: "scan:app@…+0x1010".
func Address(r *report.Report) string {
	if r.Crash == nil || r.Crash.Requested || r.Crash.Thread < 0 {
		return ""
	}
	words := []string{r.Process.Name, r.Crash.Reason.Name}
	frames := r.Threads[r.Crash.Thread].Frames
	word := func(f *report.Frame) string {
		m := &r.Modules[f.Module]
		return m.Title() + "@" + m.DebugID + "+0x" + strconv.FormatUint(f.RVA, 16)
	}
	system := func(f *report.Frame) bool { return systemModules.has(r.Modules[f.Module].Title()) }
	own := false
	for i := range frames[:min(len(frames), addressFrames)] {
		f := &frames[i]
		if f.Module < 0 || f.Scanned() {
			break
		}
		words, own = append(words, word(f)), own || !system(f)
	}
	if len(words) == 2 {
		return ""
	}
	for i := range frames {
		if f := &frames[i]; !own && f.Module >= 0 && f.Scanned() && !system(f) {
			words, own = append(words, "scan:"+word(f)), true
		}
	}
	return strings.Join(words, " | ")
}
