package ticket

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// maxBrief is the size of a brief in bytes: it fits into a comment of every tracker, and costs an
// assistant little. What happened may take the first part, and what is missing the last, so that
// the stack has at least half. A line is at most maxLine bytes.
const (
	maxBrief   = 8 << 10
	maxBefore  = 2400
	maxMissing = 1600
	maxLine    = 320
)

// WriteBrief writes what happened, the stack and how reliable each frame is, and what is missing, in
// at most maxBrief bytes, by whole lines. Of equal tickets the briefs are equal.
func WriteBrief(w io.Writer, t *Ticket) error {
	before := lines{most: maxBefore}
	before.add("What happened: " + t.Verdict)
	for _, list := range [][]rows.Fact{t.Messages, t.Facts, t.Code} {
		for _, f := range list {
			before.add(f.Key + ": " + f.Value)
		}
	}
	for list := range slices.Chunk(t.Registers, 8) {
		before.add("Registers: " + registers(list))
	}
	after := lines{most: maxMissing}
	after.add("")
	after.add("What is missing")
	lacks := t.lacks()
	for i, line := range lacks {
		if !after.add("- " + line) {
			after.must(fmt.Sprintf("- and %d more", len(lacks)-i))
			break
		}
	}
	if len(lacks) == 0 {
		after.add("Nothing: every module on these stacks has its symbols.")
	}
	if t.Hidden {
		after.must(hiddenNote)
	}
	stack := lines{most: maxBrief - len(before.text) - len(after.text)}
	if len(t.Stacks) > 0 {
		stack.addStack(t, &t.Stacks[0])
	}
	_, err := io.WriteString(w, before.text+stack.text+after.text)
	return err
}

// addStack adds the stack, what its words mean, and the modules on it, as far as there is room.
func (l *lines) addStack(t *Ticket, s *Stack) {
	l.add("")
	l.add(s.Title + ", " + frames(s.Total) + "; in parentheses is how each was found")
	var words []string
	for i := range s.Frames {
		f := &s.Frames[i]
		if word, sentence := rows.Word(f.Trust); f.Several == 0 && !slices.Contains(words, word) {
			words = append(words, word)
			l.add("  (" + word + ") " + sentence)
		}
	}
	room := l.most
	l.most -= room / 4 // for the modules
	for i := range s.Frames {
		f := s.Frames[i]
		if len(f.Full) > maxLine/2 && f.Several == 0 && !f.NoSymbol {
			f.Full = f.Function // folded
		}
		if !l.add(frameLine(&f)) {
			l.must(moreFrames(s.after(i)))
			break
		}
	}
	l.most = room
	if s.Stop != "" {
		l.add(s.Stop)
	}
	if s.Quality != "" {
		l.add(s.Quality)
	}
	if len(t.Modules) > 0 {
		l.add("")
		l.add("Modules on this stack")
	}
	for i := range t.Modules {
		if !l.add("- " + t.Modules[i].Name + ": " + t.Modules[i].identity()) {
			l.must(fmt.Sprintf("- and %d more", len(t.Modules)-i))
			break
		}
	}
}

func frames(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return rows.Number(n) + " frames"
}

// registers lists registers without the leading zeros of their values.
func registers(list []rows.Register) string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Name + " 0x" + strings.TrimLeft(r.Value[:len(r.Value)-1], "0x") + r.Value[len(r.Value)-1:]
	}
	return strings.Join(out, ", ")
}

// lines is a text of whole lines, of at most most bytes.
type lines struct {
	text string
	most int
}

// spare is the room that is kept for a line which says how many are left out.
const spare = 160

// add adds a line, cut to maxLine bytes, if there is room for it.
func (l *lines) add(line string) bool {
	if line = cut(line, maxLine); len(l.text)+len(line)+1 > l.most-spare {
		return false
	}
	l.text += line + "\n"
	return true
}

// must adds a short line, for which there always is room.
func (l *lines) must(line string) { l.text += line + "\n" }
