package ticket

import (
	"cmp"
	"io"
	"strings"
)

// WriteJira writes Jira's wiki markup. What is from the dump is in blocks without markup, except the
// sentence on top: names like a{b}, (x) and --c have a meaning of their own elsewhere.
func WriteJira(w io.Writer, t *Ticket) error {
	p := &printer{w: w}
	p.print("*", jira(t.Verdict), "*\n\n")
	block := &printer{w: &noFormat{to: w}}
	p.print("{noformat}\n")
	for _, m := range t.Messages {
		block.print(m.Key, ": ", m.Value, "\n")
	}
	writeFacts(block, t)
	writeStacks(block, t)
	p.print("{noformat}\n")
	p.err = cmp.Or(p.err, block.err)
	return p.err
}

// jira escapes the characters that Jira's text formatting notation gives a meaning.
func jira(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\{}[]|*_?-+^~!#@(`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// noFormat writes into a block that ends with "{noformat}": a text with that in it gets a space.
// Each Write is a whole text.
type noFormat struct{ to io.Writer }

func (n *noFormat) Write(p []byte) (int, error) {
	_, err := io.WriteString(n.to, strings.ReplaceAll(string(p), "{noformat", "{ noformat"))
	return len(p), err
}
