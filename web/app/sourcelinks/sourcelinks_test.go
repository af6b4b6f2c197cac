package sourcelinks

import (
	"github.com/crashpane/crashpane/web/app/host"
	"testing"
)

// TestSourceLinks: paths that say where their source is, and rules of the user, make links; nothing else
// does.
func TestSourceLinks(t *testing.T) {
	z := &Links{}
	z.Init(host.Nothing{})
	check := func(path, want string) {
		t.Helper()
		if got := z.Of(path, 43, ""); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	check("git:github.com/mozilla/gecko:dom/base/a b.cpp:c0ffee", "https://github.com/mozilla/gecko/blob/c0ffee/dom/base/a%20b.cpp#L43")
	check("hg:hg.mozilla.org/mozilla-central:dom/x.cpp:0123", "https://hg.mozilla.org/mozilla-central/file/0123/dom/x.cpp#l43")
	check("/rustc/abc/library/core/src/panicking.rs", "https://github.com/rust-lang/rust/blob/abc/library/core/src/panicking.rs#L43")
	check("git:github.com/mozilla/gecko", "")
	check("/build/app/src/{line}.c", "")
	for _, bad := range []Rule{{"", "https://x/{path}"}, {"/b", "javascript:alert(1)//{path}"}, {"/b", "https://x/"}, {"/b", "http://x/{path}"}} {
		z.Prefix, z.Template = bad.Prefix, bad.Template
		if z.Add(); z.Problem == "" || len(z.Rules) != 0 {
			t.Errorf("%+v is a rule", bad)
		}
	}
	z.Prefix, z.Template = `C:\app\`, "https://git.example/app/{path}?l={line}"
	z.Add()
	check(`C:\app\src\{line}\"x.c`, "https://git.example/app/src/%7Bline%7D/%22x.c?l=43")
	z.Remove(0)
	check(`C:\app\src\x.c`, "")

	// The debug information knows the revision. Its links get the line where the site has such pages.
	for given, want := range map[string]string{
		"https://raw.githubusercontent.com/a/b/c0ffee/src/x.c":   "https://github.com/a/b/blob/c0ffee/src/x.c#L43",
		"https://gitlab.example/g/p/-/raw/c0ffee/x.c":            "https://gitlab.example/g/p/-/blob/c0ffee/x.c#L43",
		"https://hg.mozilla.org/mozilla-central/raw-file/12/x.c": "https://hg.mozilla.org/mozilla-central/file/12/x.c#l43",
		"https://files.example/x.c?rev=12":                       "https://files.example/x.c?rev=12",
		"javascript:alert(1)":                                    "",
	} {
		if got := z.Of(`C:\app\x.c`, 43, given); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
