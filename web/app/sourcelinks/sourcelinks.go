// Package sourcelinks makes links to the source lines of frames. Begin with Links.Of.
package sourcelinks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
)

// Links makes links to the source lines of frames: by what the path itself says, and by the rules
// that the user has given. Nothing is requested before the user follows a link.
type Links struct {
	host  host.Storage
	Open  bool // the fields for a new rule are shown
	Rules []Rule
	// Prefix and Template are typed for a new rule, Problem says why it cannot be used.
	Prefix, Template, Problem string
}

// Rule is a rule of the user: the link of each path that begins with Prefix is Template, with the rest of the path
// in place of {path} and the line in place of {line}.
type Rule struct{ Prefix, Template string }

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

// Examples are templates for a new rule.
var Examples = []struct{ Name, Template string }{
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

// Of returns the link of a line, or "". given is the link to the file that the debug information has, or "":
// it knows the revision, so that it counts before what the path says.
func (z *Links) Of(path string, line int, given string) string {
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
	return words.Escape(strings.ReplaceAll(path, `\`, "/"), "-._~/+,:@()")
}

// SiteOf names the site of a link, for its text.
func SiteOf(link string) string {
	site, _, _ := strings.Cut(strings.TrimPrefix(link, "https://"), "/")
	return site
}

// Init reads the user's rules from the browser's storage.
func (z *Links) Init(h host.Storage) {
	z.host = h
	for _, line := range strings.Split(z.host.Load(sourceLinksKey), "\n") {
		if prefix, template, ok := strings.Cut(line, "\t"); ok && isTemplate(template) {
			z.Rules = append(z.Rules, Rule{prefix, template})
		}
	}
}

const sourceLinksKey = "source-links"

// isTemplate reports whether a template makes links that may be followed.
func isTemplate(t string) bool {
	return strings.HasPrefix(t, "https://") && strings.Contains(t, "{path}") && !strings.ContainsAny(t, "\t\n")
}

// Add adds the rule that is typed, before the others, so that it counts first.
func (z *Links) Add() {
	prefix, template := strings.TrimSpace(z.Prefix), strings.TrimSpace(z.Template)
	switch {
	case prefix == "" || strings.ContainsAny(prefix, "\t\n"):
		z.Problem = "Type how the paths begin."
		return
	case !isTemplate(template):
		z.Problem = "A link begins with https:// and has {path} in it."
		return
	}
	z.Rules = slices.Insert(z.Rules, 0, Rule{prefix, template})
	z.Prefix, z.Template, z.Problem, z.Open = "", "", "", false
	z.store()
}

// Remove removes a rule.
func (z *Links) Remove(n int) {
	if n >= 0 && n < len(z.Rules) {
		z.Rules = slices.Delete(z.Rules, n, n+1)
		z.store()
	}
}

func (z *Links) store() {
	var lines []string
	for _, r := range z.Rules {
		lines = append(lines, r.Prefix+"\t"+r.Template)
	}
	z.host.Store(sourceLinksKey, strings.Join(lines, "\n"))
}

// Toggle shows or hides the fields for a new rule. The folder of the frame's file is the first proposal.
func (z *Links) Toggle(path string) {
	z.Open, z.Problem = !z.Open, ""
	if z.Open && z.Prefix == "" {
		z.Prefix = path[:strings.LastIndexAny(path, `/\`)+1]
	}
}
