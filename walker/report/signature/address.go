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
// earlier call has left there.
func Address(r *report.Report) string {
	if r.Crash == nil || r.Crash.Requested || r.Crash.Thread < 0 {
		return ""
	}
	words := []string{r.Process.Name, r.Crash.Reason.Name}
	frames := r.Threads[r.Crash.Thread].Frames
	for i := range frames[:min(len(frames), addressFrames)] {
		f := &frames[i]
		if f.Module < 0 || f.Trust == "scan" || f.Trust == "cfi_scan" {
			break
		}
		m := &r.Modules[f.Module]
		words = append(words, m.Title()+"@"+m.DebugID+"+0x"+strconv.FormatUint(f.RVA, 16))
	}
	if len(words) == 2 {
		return ""
	}
	return strings.Join(words, " | ")
}
