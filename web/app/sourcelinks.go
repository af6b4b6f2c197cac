package app

import (
	"slices"
	"strconv"
	"strings"
)

// SourceLinks makes links to the source lines of frames: by what the path itself says, and by the rules
// that the user has given. Nothing is requested before the user follows a link.
type SourceLinks struct {
	host  Storage
	Open  bool // the fields for a new rule are shown
	Rules []linkRule
	// Prefix and Template are typed for a new rule, Problem says why it cannot be used.
	Prefix, Template, Problem string
}

// linkRule is a rule of the user: the link of each path that begins with Prefix is Template, with the rest of the path
// in place of {path} and the line in place of {line}.
type linkRule struct{ Prefix, Template string }

// knownLinks are the forms of paths that say where the source is: a prefix, the number of parts of the
// path after it that the link has in its beginning, and the link. {0}, {1} … are those parts.
//
//	git:github.com/org/repo:src/x.c:c0ffee   Mozilla's and other source-indexed symbol files
//	/rustc/c0ffee/library/core/src/x.rs      Rust's own libraries
var knownLinks = []struct {
	prefix, separator string
	parts             int
	template          string
}{
	{"git:github.com/", ":", 3, "https://github.com/{0}/blob/{2}/{1}#L{line}"},
	{"git:gitlab.com/", ":", 3, "https://gitlab.com/{0}/-/blob/{2}/{1}#L{line}"},
	{"hg:hg.mozilla.org/", ":", 3, "https://hg.mozilla.org/{0}/file/{2}/{1}#l{line}"},
	{"/rustc/", "/", 2, "https://github.com/rust-lang/rust/blob/{0}/{1}#L{line}"},
}

// linkExamples are templates for a new rule.
var linkExamples = []struct{ Name, Template string }{
	{"GitHub", "https://github.com/OWNER/REPOSITORY/blob/BRANCH/{path}#L{line}"},
	{"GitLab", "https://gitlab.com/GROUP/PROJECT/-/blob/BRANCH/{path}#L{line}"},
	{"Searchfox", "https://searchfox.org/mozilla-central/source/{path}#{line}"},
	{"Chromium", "https://source.chromium.org/chromium/chromium/src/+/main:{path};l={line}"},
}

// withLine makes a link to a line of a link to a file without anything around it, where the site is known to
// have a page of the file with lines: GitHub, GitLab, and Mercurial's sites.
func withLine(link string, line int) string {
	n := strconv.Itoa(line)
	if rest, ok := strings.CutPrefix(link, "https://raw.githubusercontent.com/"); ok {
		if p := strings.SplitN(rest, "/", 4); len(p) == 4 { // owner, repository, revision, path
			return "https://github.com/" + p[0] + "/" + p[1] + "/blob/" + p[2] + "/" + p[3] + "#L" + n
		}
	}
	if before, after, ok := strings.Cut(link, "/-/raw/"); ok {
		return before + "/-/blob/" + after + "#L" + n
	}
	if before, after, ok := strings.Cut(link, "/raw-file/"); ok {
		return before + "/file/" + after + "#l" + n
	}
	return link
}

// linkOf returns the link of a line, or "". given is the link to the file that the debug information has, or "":
// it knows the revision, so that it counts before what the path says.
func (z *SourceLinks) linkOf(path string, line int, given string) string {
	switch {
	case path == "":
		return ""
	case strings.HasPrefix(given, "https://"):
		return withLine(given, line)
	}
	for _, r := range z.Rules {
		if rest, ok := strings.CutPrefix(path, r.Prefix); ok {
			return strings.NewReplacer("{path}", escapePath(rest), "{line}", strconv.Itoa(line)).Replace(r.Template)
		}
	}
	for _, k := range knownLinks {
		rest, ok := strings.CutPrefix(path, k.prefix)
		parts := strings.SplitN(rest, k.separator, k.parts)
		if !ok || len(parts) < k.parts || slices.Contains(parts, "") {
			continue
		}
		fill := []string{"{line}", strconv.Itoa(line)}
		for i, p := range parts {
			fill = append(fill, "{"+strconv.Itoa(i)+"}", escapePath(p))
		}
		return strings.NewReplacer(fill...).Replace(k.template)
	}
	return ""
}

// escapePath escapes what would end a path of a URL, and makes its separators slashes.
func escapePath(path string) string {
	var b strings.Builder
	const digits = "0123456789ABCDEF"
	for i := range len(path) {
		switch c := path[i]; {
		case c == '\\':
			b.WriteByte('/')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/+,:@()", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
		}
	}
	return b.String()
}

// siteOf names the site of a link, for its text.
func siteOf(link string) string {
	site, _, _ := strings.Cut(strings.TrimPrefix(link, "https://"), "/")
	return site
}

// init reads the user's rules from the browser's storage.
func (z *SourceLinks) init(h Storage) {
	z.host = h
	for _, line := range strings.Split(z.host.Load(sourceLinksKey), "\n") {
		if prefix, template, ok := strings.Cut(line, "\t"); ok && isTemplate(template) {
			z.Rules = append(z.Rules, linkRule{prefix, template})
		}
	}
}

const sourceLinksKey = "source-links"

// isTemplate reports whether a template makes links that may be followed.
func isTemplate(t string) bool {
	return strings.HasPrefix(t, "https://") && strings.Contains(t, "{path}") && !strings.ContainsAny(t, "\t\n")
}

// add adds the rule that is typed, before the others, so that it counts first.
func (z *SourceLinks) add() {
	prefix, template := strings.TrimSpace(z.Prefix), strings.TrimSpace(z.Template)
	switch {
	case prefix == "" || strings.ContainsAny(prefix, "\t\n"):
		z.Problem = "Type how the paths begin."
		return
	case !isTemplate(template):
		z.Problem = "A link begins with https:// and has {path} in it."
		return
	}
	z.Rules = slices.Insert(z.Rules, 0, linkRule{prefix, template})
	z.Prefix, z.Template, z.Problem, z.Open = "", "", "", false
	z.store()
}

// remove removes a rule.
func (z *SourceLinks) remove(n int) {
	if n >= 0 && n < len(z.Rules) {
		z.Rules = slices.Delete(z.Rules, n, n+1)
		z.store()
	}
}

func (z *SourceLinks) store() {
	var lines []string
	for _, r := range z.Rules {
		lines = append(lines, r.Prefix+"\t"+r.Template)
	}
	z.host.Store(sourceLinksKey, strings.Join(lines, "\n"))
}

// toggle shows or hides the fields for a new rule. The folder of the frame's file is the first proposal.
func (z *SourceLinks) toggle(path string) {
	z.Open, z.Problem = !z.Open, ""
	if z.Open && z.Prefix == "" {
		z.Prefix = path[:strings.LastIndexAny(path, `/\`)+1]
	}
}
