package ticket

import (
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// maxHTML is the size of the largest page in bytes, so that it is a small attachment. The parts come in
// the order of the page, and each may fill it up to its own limit: what does not fit is left out and
// said.
const (
	maxHTML     = 195_000
	maxFacts    = 40_000
	maxCrashed  = 110_000
	maxModules  = 130_000
	maxFindings = 145_000
)

// WriteHTML writes a page in one file. It has no script and loads nothing, which its own policy
// (Content-Security-Policy) forbids, too.
func WriteHTML(w io.Writer, t *Ticket) error {
	h := &page{}
	h.add(maxHTML, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`, html(cut(t.Dump, 200)), `: crash report</title>
<style>`, style, "</style>\n<main>\n<h1>", html(cut(t.Verdict, 2000)), "</h1>\n")
	h.facts(t)
	if len(t.Stacks) > 0 {
		h.stack(&t.Stacks[0], maxCrashed)
	}
	h.modules(t)
	h.findings(t)
	for i := 1; i < len(t.Stacks); i++ {
		if i == 1 {
			h.add(maxHTML, "<h2>Other threads</h2>\n")
		}
		if !h.thread(&t.Stacks[i]) {
			h.note(moreThreads(len(t.Stacks) - i))
			break
		}
	}
	h.b.WriteString("<footer>")
	if t.Hidden {
		h.b.WriteString(hiddenNote + " ")
	}
	h.b.WriteString("Made by Crashpane.</footer>\n</main>\n</html>\n")
	_, err := io.WriteString(w, h.b.String())
	return err
}

// hiddenNote says what a ticket without private texts lacks.
const hiddenNote = "Private texts of the dump are hidden, and user names in paths are replaced by USER."

func moreThreads(n int) string {
	if n == 1 {
		return "1 more thread is not shown, to keep this report small."
	}
	return rows.Number(n) + " more threads are not shown, to keep this report small."
}

// page is the text of the page.
type page struct{ b strings.Builder }

// add appends texts if the page stays below a limit, and reports whether it did.
func (h *page) add(limit int, texts ...string) bool {
	n := h.b.Len()
	for _, s := range texts {
		n += len(s)
	}
	if n > limit {
		return false
	}
	for _, s := range texts {
		h.b.WriteString(s)
	}
	return true
}

// note appends a short text, for which every limit has room.
func (h *page) note(text string) { h.add(maxHTML+1000, `<p class="note">`, text, "</p>\n") }

// facts writes the facts, messages and registers.
func (h *page) facts(t *Ticket) {
	h.add(maxHTML, "<dl>\n")
	for _, list := range [][]rows.Fact{t.Messages, t.Facts, t.Code} {
		for _, f := range list {
			value := html(f.Value)
			if f.Code {
				value = "<code>" + value + "</code>"
			}
			if !h.add(maxFacts, "<dt>", html(f.Key), "</dt><dd>", value, "</dd>\n") {
				h.add(maxHTML, "<dt>", html(cut(f.Key, 100)), "</dt><dd>too long to be shown here</dd>\n")
			}
		}
	}
	h.add(maxHTML, "</dl>\n")
	if len(t.Registers) == 0 {
		return
	}
	h.add(maxHTML, "<details><summary>Registers of the first frame</summary><p class=\"registers\">")
	for _, r := range t.Registers {
		h.add(maxFacts, "<span>", html(r.Name), " ", html(r.Value), "</span> ")
	}
	h.add(maxHTML, "</p></details>\n")
}

// stack writes the stack that the report is about.
func (h *page) stack(s *Stack, limit int) {
	h.add(maxHTML, "<h2>", html(cut(s.Title, 1000)), "</h2>\n")
	if s.Quality != "" {
		h.add(maxHTML, `<p class="note">`, html(cut(s.Quality, 1000)), "</p>\n")
	}
	h.table(s, limit)
}

// thread writes the stack of another thread, and reports whether all of it fits. What does not fit is
// taken out again.
func (h *page) thread(s *Stack) bool {
	before := h.b.String()
	ok := h.add(maxHTML, "<details><summary>", html(cut(s.Title, 300)), ` <span class="top">`, html(cut(top(s), 200)), "</span></summary>\n") &&
		h.table(s, maxHTML) && h.add(maxHTML, "</details>\n")
	if !ok {
		h.b.Reset()
		h.b.WriteString(before)
	}
	return ok
}

// top returns the first frame with a name.
func top(s *Stack) string {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Several == 0 && !f.NoSymbol {
			return f.Function
		}
	}
	return ""
}

// table writes the frames of a stack and why it ends, and reports whether all fit.
func (h *page) table(s *Stack, limit int) bool {
	all := true
	if len(s.Frames) > 0 {
		all = h.add(maxHTML, "<table class=\"frames\"><thead><tr><th>#<th>Function<th>Source<th>Found by<th>Module or address</tr></thead>\n")
		n := 0
		for n < len(s.Frames) && h.add(limit, frameRow(&s.Frames[n])) {
			n++
		}
		h.b.WriteString("</table>\n")
		if n < len(s.Frames) {
			h.note(moreFrames(s.after(n)) + ", to keep this report small")
			s = &Stack{Stop: s.Stop, Suggestion: s.Suggestion}
			all = false
		}
	}
	for _, line := range s.end() {
		all = h.add(maxHTML, `<p class="note">`, html(cut(line, 1000)), "</p>\n") && all
	}
	return all
}

// frameRow is a frame as a row of the table. Tags that HTML lets out are left out.
func frameRow(f *Frame) string {
	if f.Several > 0 {
		return `<tr><td>…<td colspan="4" class="weak">` + html(f.Function) + "</tr>\n"
	}
	class := ""
	if f.Unreliable {
		class = ` class="weak"`
	}
	if f.Kind == rows.RowInline {
		class = ` class="inline"`
	}
	source := "<td>" + html(f.Source)
	if f.Path != f.Source {
		source = `<td title="` + html(f.Path) + `">` + html(f.Source)
	}
	return "<tr" + class + "><td>" + rows.FrameNumber(f.StackRow) + "<td><code>" + html(rows.NameOf(f.StackRow)) + "</code>" + source + "<td>" +
		html(f.Word+rows.AssignedWord(f.StackRow)) + "<td><code>" + html(f.Where()) + "</code></tr>\n"
}

// modules writes the modules on the first stack.
func (h *page) modules(t *Ticket) {
	if len(t.Modules) == 0 {
		return
	}
	h.add(maxHTML, "<h2>Modules on this stack</h2>\n<table><thead><tr><th>Module<th>Version<th>Debug file and id<th>Code id<th>Symbols</tr></thead>\n")
	left := 0
	for i := range t.Modules {
		m := &t.Modules[i]
		if left > 0 || !h.add(maxModules, `<tr><td title="`, html(m.Path), `"><code>`, html(m.Name), "</code><td>", html(m.Version), "<td><code>", html(m.DebugFile), " ",
			html(m.DebugID), "</code><td><code>", html(m.CodeID), "</code><td>", html(m.Word), "</tr>\n") {
			left++
		}
	}
	h.add(maxHTML, "</table>\n")
	if left > 0 {
		h.note(rows.Number(left) + " more modules are not shown, to keep this report small")
	}
}

// findings writes what is missing, and why stacks are incomplete.
func (h *page) findings(t *Ticket) {
	lines := t.lacks()
	if len(lines) == 0 {
		return
	}
	h.add(maxHTML, "<h2>What is missing</h2>\n<ul>\n")
	left := 0
	for _, line := range lines {
		if left > 0 || !h.add(maxFindings, "<li>", html(line), "</li>\n") {
			left++
		}
	}
	h.add(maxHTML, "</ul>\n")
	if left > 0 {
		h.note(rows.Number(left) + " more are not shown, to keep this report small")
	}
}

// lacks returns a line for each finding and each missing file.
func (t *Ticket) lacks() (out []string) {
	for _, f := range t.Findings {
		line := f.Title + ": " + f.Text
		if f.Suggestion != "" {
			line += ". " + f.Suggestion
		}
		out = append(out, line)
	}
	for _, m := range t.Missing {
		out = append(out, "Missing symbols: "+m)
	}
	return out
}

// html escapes a text for content and for attributes in double quotes.
func html(s string) string { return htmlEscapes.Replace(s) }

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// cut shortens a text to at most n bytes and an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// style is the style sheet of the page, for screens in both themes and for paper.
const style = `
:root { color-scheme: light dark; --ground: #fff; --text: #1a1e26; --dim: #566072; --line: #dfe3e9; --head: #f3f4f6; --accent: #2456c8 }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --text: #e6e9ee; --dim: #a0aaba; --line: #2b313a; --head: #1d2128; --accent: #8fb1ff } }
body { margin: 0; background: var(--ground); color: var(--text); font: 14px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 40px }
h1 { margin: 2px 0 16px; font-size: 20px; line-height: 1.35; font-weight: 650; overflow-wrap: anywhere }
h2 { margin: 28px 0 8px; font-size: 15px; font-weight: 650; overflow-wrap: anywhere }
code, .registers { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
.note, .top, footer { color: var(--dim) }
.note { margin: 4px 0; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 20px; margin: 0 0 12px }
dt { max-width: 30vw; color: var(--dim); overflow-wrap: anywhere }
dd { margin: 0; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse; margin: 6px 0 }
th { padding: 5px 8px; background: var(--head); color: var(--dim); font-size: 12px; font-weight: 600; text-align: left }
td { padding: 4px 8px; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
.frames { table-layout: fixed }
.frames th:nth-child(1) { width: 30px } .frames th:nth-child(3) { width: 16% } .frames th:nth-child(4) { width: 84px } .frames th:nth-child(5) { width: 19% }
.frames td:first-child { white-space: nowrap }
.weak, .inline td:nth-child(n + 3) { color: var(--dim) }
.weak td:first-child { padding-left: 6px; border-left: 2px dotted var(--dim) }
summary { padding: 5px 0; cursor: pointer; overflow-wrap: anywhere }
details { border-top: 1px solid var(--line) }
.registers { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 4px 0 10px }
.registers span { white-space: pre }
footer { margin-top: 32px; padding-top: 10px; border-top: 1px solid var(--line); font-size: 12.5px }
@media print {
  :root { --ground: #fff; --text: #000; --dim: #444; --line: #bbb; --head: #eee; color-scheme: light }
  body { font-size: 10.5px } main { padding: 0; max-width: none } code, .registers { font-size: 9.5px } h1 { font-size: 15px } h2 { font-size: 12px }
  details::details-content { display: block; content-visibility: visible; block-size: auto } tr, dt, dd { break-inside: avoid } h2, summary { break-after: avoid } thead { font-size: 9.5px }
}
`
