package pdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestSourceLink: the source file of each line of a linker's PDB has the link that the PDB says.
func TestSourceLink(t *testing.T) {
	f, err := pdb.Open(input.FromBytes("links.pdb", testfile.Read(t, "testdata/links.pdb.gz")))
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://raw.githubusercontent.com/example/t/c0ffee/src/t.cc"
	found := 0
	for rva := uint64(0x1000); rva < 0x1400; rva++ {
		s, ok, err := f.Lookup(rva)
		if err != nil || ok != symbol.Yes || s.File == "" {
			continue
		}
		found++
		if link, err := f.SourceLink(s.File); err != nil || link != want {
			t.Fatalf("0x%x, %s: %q, %v, want %q", rva, s.File, link, err, want)
		}
	}
	if found == 0 {
		t.Error("no lines")
	}
	if link, err := f.SourceLink("/other/t.cc"); err != nil || link != "" {
		t.Errorf("/other/t.cc: %q, %v", link, err)
	}
}

// server is a stream of a source server.
func server(variables, files string) string {
	return "SRCSRV: ini ---\r\nVERSION=2\r\nSRCSRV: variables ---\r\n" + strings.ReplaceAll(variables, "\n", "\r\n") +
		"\r\nSRCSRV: source files ---\r\n" + files + "\r\nSRCSRV: end ---"
}

// TestSourceLinkForms: links follow the two specifications; what they leave open, and what leads elsewhere than
// it seems, gives none.
func TestSourceLinkForms(t *testing.T) {
	const mozilla = "HGSERVER=https://hg.mozilla.org/mozilla-central\nHTTP_EXTRACT_TARGET=%hgserver%/raw-file/%var3%/%var2%\nSRCSRVTRG=%http_extract_target%"
	many := "SRCSRVTRG=%v0%\nE=\n"
	for i := range 30 {
		many += fmt.Sprintf("V%d=%%v%d%%%%v%d%%\n", i, i+1, i+1)
	}
	long := strings.ReplaceAll(many, "E=", "V30="+strings.Repeat("x", 4000)) // 4 TB, if it were made
	for _, c := range []struct {
		name    string
		streams map[string]string
		path    string
		want    string
	}{
		{"one stream", map[string]string{"sourcelink": `{"documents": {"C:\\src\\*": "https://h/*"}}`}, `C:\src\a b\x.c`, "https://h/a%20b/x.c"},
		{"case", map[string]string{"sourcelink": `{"documents": {"C:\\SRC\\*": "https://h/*"}}`}, `c:\src\X.c`, "https://h/X.c"},
		{"longest", map[string]string{"sourcelink$1": `{"documents": {"/s/*": "https://h/*", "/s/sub/*": "https://sub/*"}}`}, "/s/sub/x.c", "https://sub/x.c"},
		{"exact", map[string]string{"sourcelink$1": `{"documents": {"/s/*": "https://h/*", "/s/x.c": "https://x/?f=x.c"}}`}, "/s/x.c", "https://x/?f=x.c"},
		{"exact is whole", map[string]string{"sourcelink": `{"documents": {"/s/x.c": "https://x/"}}`}, "/s/x.cpp", ""},
		{"second stream", map[string]string{"sourcelink$1": `{"documents": {"/a/*": "https://a/*"}}`, "sourcelink$2": `{"documents": {"/b/*": "https://b/*/raw"}}`}, "/b/x.c", "https://b/x.c/raw"},
		{"byte order mark", map[string]string{"sourcelink": "\xef\xbb\xbf" + `{"documents": {"/s/*": "https://h/*"}}`}, "/s/x", "https://h/x"},
		{"http", map[string]string{"sourcelink": `{"documents": {"/s/*": "http://h/*"}}`}, "/s/x", ""},
		{"script", map[string]string{"sourcelink": `{"documents": {"/s/*": "javascript:alert(1)//*"}}`}, "/s/x", ""},
		{"user", map[string]string{"sourcelink": `{"documents": {"/s/*": "https://github.com@evil.example/*"}}`}, "/s/x", ""},
		{"quote", map[string]string{"sourcelink": `{"documents": {"/s/*": "https://h/\"onclick=*"}}`}, "/s/x", ""},
		{"two holes", map[string]string{"sourcelink": `{"documents": {"/s/*": "https://h/*/*"}}`}, "/s/x", ""},
		{"no hole", map[string]string{"sourcelink": `{"documents": {"/s/*": "https://h/"}}`}, "/s/x", ""},
		{"not JSON", map[string]string{"sourcelink": `{"documents": `}, "/s/x", ""},
		{"another form", map[string]string{"sourcelink": `{"documents": {"/s/*": ["https://h/*"]}}`}, "/s/x", ""},

		{"server", map[string]string{"srcsrv": server(mozilla, "/b/x.c*dom/x.c*c0ffee")}, "/b/x.c", "https://hg.mozilla.org/mozilla-central/raw-file/c0ffee/dom/x.c"},
		{"another file", map[string]string{"srcsrv": server(mozilla, "/b/x.cpp*dom/x.cpp*c0ffee")}, "/b/x.c", ""},
		{"functions", map[string]string{"srcsrv": server("P1=https://h/g\nSRCSRVTRG=%fnvar%(%var2%)/%fnfile%(%fnbksl%(%var3%))?r=%var4%", `C:\b\x.c*p1*dom/x y.c*12`)}, `c:\B\x.c`, "https://h/g/x%20y.c?r=12"},
		{"most fields", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%var99%", "/b/x.c"+strings.Repeat("*x", 98))}, "/b/x.c", "https://h/x"},
		{"too many fields", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%var200000%", "/b/x.c"+strings.Repeat("*x", 200000))}, "/b/x.c", ""},
		{"no field", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%var0%", "/b/x.c*x")}, "/b/x.c", ""},
		{"command", map[string]string{"srcsrv": server(`SRCSRVTRG=%targ%\%var2%`, "/b/x.c*x.c")}, "/b/x.c", ""},
		{"file", map[string]string{"srcsrv": server(`SRCSRVTRG=\\server\share\%var2%`, "/b/x.c*x.c")}, "/b/x.c", ""},
		{"loop", map[string]string{"srcsrv": server("A=https://h/%b%\nB=%a%\nSRCSRVTRG=%a%", "/b/x.c*x.c")}, "/b/x.c", ""},
		{"loop of fields", map[string]string{"srcsrv": server("SRCSRVTRG=%fnvar%(%var2%)", "/b/x.c*srcsrvtrg")}, "/b/x.c", ""},
		{"open parenthesis", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%fnfile%((%var1%)", "/b/x.c*x.c")}, "/b/x.c", ""},
		{"open percent", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%var1", "/b/x.c*x.c")}, "/b/x.c", ""},
		{"unknown function", map[string]string{"srcsrv": server("SRCSRVTRG=https://h/%fnx%(%var1%)", "/b/x.c*x.c")}, "/b/x.c", ""},
		{"many empty", map[string]string{"srcsrv": server(many, "/b/x.c*x.c")}, "/b/x.c", ""},
		{"many long", map[string]string{"srcsrv": server(long, "/b/x.c*x.c")}, "/b/x.c", ""},
		{"deep", map[string]string{"srcsrv": server("SRCSRVTRG="+strings.Repeat("%fnfile%(", 400)+strings.Repeat(")", 400), "/b/x.c*x.c")}, "/b/x.c", ""},
		{"document first", map[string]string{"sourcelink": `{"documents": {"/b/*": "https://h/*"}}`, "srcsrv": server(mozilla, "/b/x.c*dom/x.c*c0ffee")}, "/b/x.c", "https://h/x.c"},
	} {
		f := (&made{named: c.streams}).open(t)
		for range 2 { // the second time from what was kept
			if link, err := f.SourceLink(c.path); err != nil || link != c.want {
				t.Errorf("%s: %q, %v, want %q", c.name, link, err, c.want)
			}
		}
	}
}
