package app

import "github.com/crashpane/crashpane/walker/report/rows"

// helpLine is a line of the help dialog: keys, and what they do.
type helpLine struct {
	Keys []string
	What string
}

// helpKeys returns the lines of the help dialog: those of the actions, of the tabs, and of Esc.
func helpKeys() (lines []helpLine) {
	for _, a := range actionTable {
		if a.help == "" {
			continue
		}
		line := helpLine{a.keys[:1:1], a.help}
		if a.with != "" {
			line.Keys = append(line.Keys, keyOf(a.with))
		}
		lines = append(lines, line)
	}
	tabs := helpLine{What: "open a lower tab; the same key again folds the panel"}
	for _, t := range Tabs {
		tabs.Keys = append(tabs.Keys, t.Key)
	}
	return append(lines, tabs, helpLine{[]string{"Esc"}, "close, cancel, clear the search"})
}

// keyOf returns the first key of an action, or "".
func keyOf(id string) string {
	for _, a := range actionTable {
		if a.id == id && len(a.keys) > 0 {
			return a.keys[0]
		}
	}
	return ""
}

// addressHelp explains the addresses and offsets of frames, in the help dialog.
const addressHelp = "A caller’s address and its offset in the module point into its call instruction: they are the return address minus 1 byte on x86, 2 on ARM and 4 on ARM64, " +
	"as in Breakpad’s text and rust-minidump’s JSON. “Returns to” in a frame’s details is the return address itself."

// trustWord is a line of the help dialog: a way in which a frame can be found.
type trustWord struct{ Trust, Word, Sentence string }

// trustWords are the lines of the dialog, the most reliable first.
func trustWords() []trustWord {
	var out []trustWord
	for _, t := range []string{"context", "cfi", "prewalked", "leaf", "frame_pointer", "cfi_scan", "scan", "none", "inline"} {
		w, s := rows.Word(t)
		out = append(out, trustWord{t, w, s})
	}
	return out
}
