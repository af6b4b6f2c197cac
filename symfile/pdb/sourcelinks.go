package pdb

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/jsonwriter"
)

// A PDB may say where its source files are on the web: in streams of the linker's option /SOURCELINK,
// or in the stream of a source server.
//
// Sources: .NET, "Source Link" (designs/accepted/2020/diagnostics/source-link.md); Microsoft, "Language
// Specification 1" of SrcSrv.

const (
	// maxServer is the largest stream of a source server that is read: Chromium lists 50,000 files in 6 MB.
	// maxDocuments is that of Source Link, which has an entry for each repository, and maxParsed how many bytes
	// a byte of JSON may become.
	maxServer, maxDocuments, maxParsed = 32 << 20, 1 << 20, 16
	// maxVariables is how many variables of a source server are kept; known writers have a dozen.
	maxVariables = 1000
	// maxFields is how many fields a file's line has; known writers write less than ten.
	maxFields = 100
	// maxLink is how long a link may be: browsers and servers take no longer ones for sure.
	maxLink = 4 << 10
	// maxReferences is how many variables are put in for one link; known writers use less than 20.
	maxReferences = 1000
)

// sourceLinks is what those streams say.
type sourceLinks struct {
	documents []document
	variables map[string]string // by their names in lower case
	files     string            // lines of source files: their fields have a * in between
}

// document is an entry of Source Link: paths that begin with prefix, or with exact the one that is it. The
// rest of the path goes in the middle of the link.
type document struct {
	prefix, before, after string
	exact                 bool
}

// SourceLink returns the link to a source file, by its path in the debug information; "" if the file has
// none. It begins with https://.
func (f *File) SourceLink(path string) (string, error) {
	if f.links == nil {
		l := &sourceLinks{}
		if err := l.read(f); err != nil {
			return "", err
		}
		f.links = l
	}
	if link := f.links.document(path); link != "" {
		return link, nil
	}
	return f.links.server(f.src, path)
}

// read reads the streams. There is one "sourcelink", or "sourcelink$1" and so on up to an empty one.
func (l *sourceLinks) read(f *File) error {
	for n := 0; ; n++ {
		name := "sourcelink"
		if n > 0 {
			name = fmt.Sprintf("sourcelink$%d", n)
		}
		text, err := f.namedText(name, maxDocuments, maxParsed)
		if err != nil {
			return err
		}
		if text != "" && !l.addDocuments(text) {
			f.notes.Add(fmt.Errorf("%s: the stream %s is not a Source Link document", f.src.Name, name))
		}
		if text == "" && n > 0 {
			break
		}
	}
	// Exact paths first, then the longest prefix.
	slices.SortStableFunc(l.documents, func(a, b document) int {
		switch {
		case a.exact != b.exact && a.exact:
			return -1
		case a.exact != b.exact:
			return 1
		}
		return len(b.prefix) - len(a.prefix)
	})
	text, err := f.namedText("srcsrv", maxServer, 1)
	if err == nil {
		l.addServer(text)
	}
	return err
}

// namedText is the text of a stream of at most so many bytes, by its name, or "". Each byte
// takes so many in memory.
func (f *File) namedText(name string, most, each int64) (string, error) {
	number, ok := f.named[name]
	if !ok {
		return "", nil
	}
	s := f.msf.stream(number, name)
	if s == nil || s.Size == 0 {
		return "", nil
	}
	if s.Size > most {
		f.notes.Add(fmt.Errorf("%s: the stream %s has %d bytes, and is not read", f.src.Name, name, s.Size))
		return "", nil
	}
	if err := f.src.Draw(input.Memory, each*s.Size); err != nil {
		return "", f.pass(err)
	}
	b, err := s.Bytes(0, s.Size)
	if err != nil {
		f.src.Return(each * s.Size)
		return "", f.pass(err)
	}
	return strings.TrimPrefix(string(b), "\xef\xbb\xbf"), nil
}

// addDocuments adds the entries of a Source Link document.
//
//	{"documents": {"C:\\src\\*": "https://raw.githubusercontent.com/org/repo/c0ffee/*"}}
func (l *sourceLinks) addDocuments(text string) bool {
	v, ok := jsonwriter.Parse(strings.TrimRight(text, "\x00"))
	documents := v.Object()["documents"].Object()
	if !ok || documents == nil {
		return false
	}
	for path, url := range documents {
		prefix, any := strings.CutSuffix(path, "*")
		before, after, hole := strings.Cut(url.Text(), "*")
		if any == hole && !strings.Contains(prefix, "*") && !strings.Contains(after, "*") {
			l.documents = append(l.documents, document{prefix, before, after, !any})
		}
	}
	slices.SortFunc(l.documents, func(a, b document) int { return strings.Compare(a.prefix, b.prefix) })
	return true
}

// document makes the link of Source Link. Paths are compared without case.
func (l *sourceLinks) document(path string) string {
	for _, d := range l.documents {
		if len(path) < len(d.prefix) || !strings.EqualFold(path[:len(d.prefix)], d.prefix) || d.exact && len(path) != len(d.prefix) {
			continue
		}
		rest := strings.ReplaceAll(path[len(d.prefix):], `\`, "/")
		return secureLink(d.before + escapeLink(rest, "-._~/") + d.after)
	}
	return ""
}

// addServer reads the stream of a source server.
//
//	SRCSRV: ini ---
//	VERSION=2
//	SRCSRV: variables ---
//	HGSERVER=https://hg.mozilla.org/mozilla-central
//	SRCSRVTRG=%hgserver%/raw-file/%var3%/%var2%
//	SRCSRV: source files ---
//	/builds/gecko/uriloader/x.cpp*uriloader/x.cpp*1706d4d5
//	SRCSRV: end ---
func (l *sourceLinks) addServer(text string) {
	l.variables = map[string]string{}
	section := ""
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		line = strings.TrimRight(line, "\r\x00")
		if title, ok := strings.CutPrefix(line, "SRCSRV: "); ok {
			section, _, _ = strings.Cut(strings.ToLower(title), " --")
			if section == "source files" {
				l.files, _, _ = strings.Cut(rest, "SRCSRV: end")
				return
			}
		} else if name, value, ok := strings.Cut(line, "="); ok && (section == "ini" || section == "variables") && len(l.variables) < maxVariables {
			l.variables[strings.ToLower(name)] = value
		}
		text = rest
	}
}

// server makes the link of the source server: its target, if that is on the web.
func (l *sourceLinks) server(src *input.Source, path string) (string, error) {
	if err := src.Draw(input.Work, int64(len(l.files))/16); err != nil {
		return "", err
	}
	for rest := l.files; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if len(line) < len(path) || !strings.EqualFold(line[:len(path)], path) {
			continue
		}
		line = strings.TrimRight(line, "\r\x00")
		if tail := line[len(path):]; tail != "" && tail[0] != '*' {
			continue
		}
		e := expansion{variables: l.variables, fields: strings.SplitN(line, "*", maxFields)}
		link, err := e.expand("%srcsrvtrg%")
		if err != nil {
			return "", nil // the file's mistake: it has no link then
		}
		return secureLink(escapeLink(link, "-._~/:?#[]@!$&'()*+,;=%")), nil
	}
	return "", nil
}

// expansion puts the values of variables into texts.
type expansion struct {
	variables  map[string]string
	fields     []string // values of var1, var2 ...
	open       []string // the variables whose values are being made
	references int
}

var errExpansion = errors.New("the variables of the source server have no value")

// expand replaces %name% by its value, %fnvar%(x) by the value of the variable that x names,
// %fnbksl%(x) by x with \ for /, and %fnfile%(x) by the file's name in the path x.
func (e *expansion) expand(text string) (string, error) {
	var out strings.Builder
	if len(text) > maxLink {
		return "", errExpansion
	}
	for {
		before, rest, found := strings.Cut(text, "%")
		out.WriteString(before)
		if out.Len() > maxLink {
			return "", errExpansion
		}
		if !found {
			return out.String(), nil
		}
		name, rest, found := strings.Cut(rest, "%")
		if !found {
			return "", errExpansion
		}
		name = strings.ToLower(name)
		var value string
		var err error
		if strings.HasPrefix(name, "fn") && strings.HasPrefix(rest, "(") {
			inner := argument(rest)
			if inner < 0 {
				return "", errExpansion
			}
			value, err = e.call(name, rest[1:inner])
			rest = rest[inner+1:]
		} else {
			value, err = e.value(name)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = rest
	}
}

// argument is the offset of the parenthesis that closes the one at the beginning, or -1.
func argument(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// call is the value of a function.
func (e *expansion) call(name, argument string) (string, error) {
	if len(e.open) >= maxReferences {
		return "", errExpansion
	}
	e.open = append(e.open, "") // functions in functions count, too
	x, err := e.expand(argument)
	e.open = e.open[:len(e.open)-1]
	if err != nil {
		return "", err
	}
	switch name {
	case "fnvar":
		return e.value(strings.ToLower(strings.TrimSpace(x)))
	case "fnbksl":
		return strings.ReplaceAll(x, "/", `\`), nil
	case "fnfile":
		return x[strings.LastIndexAny(x, `/\`)+1:], nil
	}
	return "", errExpansion
}

// value is the value of a variable. One whose value needs itself has none.
func (e *expansion) value(name string) (string, error) {
	if e.references++; e.references > maxReferences || slices.Contains(e.open, name) {
		return "", errExpansion
	}
	if digits, ok := strings.CutPrefix(name, "var"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n <= len(e.fields) {
			return e.fields[n-1], nil
		}
	}
	text, ok := e.variables[name]
	if !ok {
		return "", errExpansion
	}
	e.open = append(e.open, name)
	value, err := e.expand(text)
	e.open = e.open[:len(e.open)-1]
	return value, err
}

// escapeLink escapes what a part of a link cannot have: all but letters, digits and some signs.
func escapeLink(text, signs string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(signs, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// secureLink returns a link that may be followed, or "": over https, and to the site that it seems to
// lead to, without a user's name before it.
func secureLink(link string) string {
	rest, ok := strings.CutPrefix(link, "https://")
	site, _, _ := strings.Cut(rest, "/")
	if !ok || len(link) > maxLink || site == "" || strings.ContainsAny(site, `@?#\`) {
		return ""
	}
	for i := range len(link) {
		if c := link[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return ""
		}
	}
	return link
}
