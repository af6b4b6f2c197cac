package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestAddress: names of modules are untrusted, and must stay within one segment of the address.
func TestAddress(t *testing.T) {
	const base, id = "https://symbols.example/v1", "5A9832E5287241C1838ED98914E9B7FF1"
	for path, want := range map[string]string{
		"app.pdb/" + id + "/app.sym":        base + "/app.pdb/" + id + "/app.sym",
		"a b#c?d.so/" + id + "/a b#c?d.sym": base + "/a%20b%23c%3Fd.so/" + id + "/a%20b%23c%3Fd.sym",
		"é%.so/" + id + "/é%.sym":           base + "/%C3%A9%25.so/" + id + "/%C3%A9%25.sym",
		`a\..\b/` + id + "/x.sym":           base + `/a%5C..%5Cb/` + id + "/x.sym",
		"../" + id + "/x.sym":               "",
		"./" + id + "/x.sym":                "",
		"/" + id + "/.sym":                  "",
		"app.pdb/../app.sym":                "",
		"app.pdb/12/app.sym":                "",
		"a/b/" + id + "/app.sym":            "",
		"":                                  "",
	} {
		if got := servers.FileAddress(base, path); got != want {
			t.Errorf("%q is asked for as %q, want %q", path, got, want)
		}
	}
}

// openSources returns a page with a dump that lacks two symbol files, and the panel open.
func openSources() (*Page, *fakeHost, *fakeEngine) {
	h, e := &fakeHost{bases: []string{"https://symbols.example"}}, &fakeEngine{}
	p := NewPage(h, e, "")
	p.Dumps.List = []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}
	p.Summary = &rows.Summary{}
	p.Act("sources", "")
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	say(p, &protocol.Missing{Rows: []rows.MissingRow{
		{DebugFile: "app", DebugID: id, StorePath: "app/" + id + "/app.sym", Stores: []rows.StoreFile{
			{Layout: "breakpad", Path: "app/" + id + "/app.sym"}, {Layout: "microsoft", Path: "app.pdb/" + id + "/app.pdb", Else: "app.pdb/" + id + "/app.pd_"},
			{Layout: "microsoft", Path: "app.exe/5F5E10003000/app.exe", Else: "app.exe/5F5E10003000/app.ex_"}}},
		{DebugFile: "b", DebugID: id, StorePath: "b/" + id + "/b.sym", Stores: []rows.StoreFile{
			{Layout: "breakpad", Path: "b/" + id + "/b.sym"}, {Layout: "debuginfod", Path: "buildid/0123456789abcdef/debuginfo"}}}}})
	return p, h, e
}

// drawn returns the panel as a drawing has it.
func drawn(p *Page) *servers.Sources {
	p.Panel.Sources.Compute()
	return p.Panel.Sources
}

// TestLayoutOfSource: a server with a layout is asked for that layout's paths, for the second path
// of a file only if the first does not exist, and the page has shown all of them before.
func TestLayoutOfSource(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	p, h, e := openSources()
	h.bases = []string{"microsoft+https://symbols.example", "debuginfod+https://debug.example"}
	p.Act("base", "debuginfod+https://debug.example")
	if got := drawn(p).Addresses(); got != "https://debug.example/buildid/0123456789abcdef/debuginfo" {
		t.Errorf("shown are %s", got)
	}
	p.Act("base", "microsoft+https://symbols.example")
	const pdb, exe = "https://symbols.example/app.pdb/" + id + "/app.pd", "https://symbols.example/app.exe/5F5E10003000/app.ex"
	if got := drawn(p).Addresses(); got != pdb+"b\n"+pdb+"_ if the server does not have that\n"+exe+"e\n"+exe+"_ if the server does not have that" {
		t.Errorf("shown are %s", got)
	}
	p.Act("ask", "")
	if len(h.fetches) != 2 || h.fetches[0].url != pdb+"b" || h.fetches[1].url != exe+"e" {
		t.Fatalf("asked are %+v", h.fetches)
	}
	h.fetches[0].done(host.Fetched{Status: 404})
	h.fetches[1].done(host.Fetched{Status: 200, File: fakeFile(exe + "e")})
	if len(h.fetches) != 3 || h.fetches[2].url != pdb+"_" {
		t.Fatalf("asked are %+v", h.fetches)
	}
	if r := last[protocol.Add](e); r == nil || !r.Symbols || r.DebugID != "5F5E10003000" {
		t.Errorf("the program is read by %+v: it may be nothing but the one that was asked for", r)
	}
	h.fetches[2].done(host.Fetched{Status: 200, File: fakeFile(pdb + "_")})
	if p.Work.Downloads.Word(p.Panel.Sources.Missing[0]) == "" || p.Work.Downloads.Word(p.Panel.Sources.Missing[1]) != "" {
		t.Errorf("the rows say %q and %q", p.Work.Downloads.Word(p.Panel.Sources.Missing[0]), p.Work.Downloads.Word(p.Panel.Sources.Missing[1]))
	}
	p.Act("ask", "")
	if len(h.fetches) != 3 {
		t.Error("it asks again for what is there")
	}
}

// TestSourcesAreDrawn: a drawing has the addresses, and then the requests in the panel and in their
// rows. It works them out once, whatever the number of texts that need them.
func TestSourcesAreDrawn(t *testing.T) {
	p, h, _ := openSources()
	p.Panel.Missing.Rows, p.Panel.Missing.Total = p.Panel.Sources.Missing, 2
	h.resolved = 0
	html := render(t, p)
	if !strings.Contains(html, "Ask the server for these 2 files") || !strings.Contains(html, "https://symbols.example/app/") || h.resolved != 1 {
		t.Errorf("worked out %d times for %s", h.resolved, html)
	}
	p.Act("ask", "")
	h.fetches[0].done(host.Fetched{Status: 404})
	html = render(t, p)
	if !strings.Contains(html, "No file to ask this server for") || strings.Count(html, "not found (404)") != 3 { // in the panel, in the row and in its title
		t.Error(html)
	}
}

// The page shows the loader's message about a server without CORS.
func TestSourceWithoutCORS(t *testing.T) {
	p, h, _ := openSources()
	p.Act("ask", "")
	h.fetches[0].done(host.Fetched{Problem: "symbols.example answers, and does not let this page read its answers (CORS)"})
	if text := p.Panel.Sources.AskedText(); !strings.Contains(text, "does not let this page read its answers (CORS)") {
		t.Errorf("the page says %s", text)
	}
}

func TestNothingIsAskedBeforeItIsWanted(t *testing.T) {
	p, h, e := openSources()
	if last[protocol.ListMissing](e) == nil {
		t.Fatal("the panel does not find out what is missing")
	}
	shown := strings.Split(drawn(p).Addresses(), "\n")
	if len(shown) != 2 || len(h.fetches) != 0 {
		t.Fatalf("%q are shown, and %d were asked", shown, len(h.fetches))
	}
	p.Act("ask", "")
	var asked []string
	for _, f := range h.fetches {
		asked = append(asked, f.url)
	}
	if !slices.Equal(asked, shown) {
		t.Errorf("%q were asked, %q were shown", asked, shown)
	}
	h.fetches[0].done(host.Fetched{Status: 404})
	h.fetches[1].done(host.Fetched{Status: 200, File: fakeFile("https://symbols.example/b.sym")})
	if r := last[protocol.Add](e); r == nil || !r.Symbols || r.DebugID == "" {
		t.Errorf("what came is read by %+v: it may be nothing but the symbol file that was asked for", r)
	}
	if text := p.Panel.Sources.AskedText(); !strings.Contains(text, "not found (404)") || !strings.Contains(text, "received, ") {
		t.Errorf("the page says %s", text)
	}
	p.Act("ask", "")
	if len(h.fetches) != 2 {
		t.Error("it asks again for what is not there")
	}
}

func TestSourceThatIsNotListed(t *testing.T) {
	p, h, _ := openSources()
	p.Input("symbols-token", "secret")
	p.Input("symbols-base", "https://other.example")
	if problem := drawn(p).Problem; !strings.Contains(problem, "crashpane fetch DUMP --from https://other.example") || strings.Contains(problem, "make site") {
		t.Errorf("the page says %q", problem)
	}
	if p.Panel.Sources.Token != "" {
		t.Error("the token of one source is kept for another")
	}
	p.Act("ask", "")
	h.closed = true
	if problem := drawn(p).Problem; !strings.Contains(problem, "connect-src 'none'") {
		t.Errorf("the page says %q", problem)
	}
	p.Act("ask", "")
	if len(h.fetches) != 0 {
		t.Error("it was asked all the same")
	}
}

// TestCurl: for a server that the page may not ask there is a command for the user's system. Names of
// the dump cannot become part of the command.
func TestCurl(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	for _, c := range []struct{ system, base, token, want string }{
		{host.Linux, "https://other.example/s", "", "curl -fL --create-dirs -C - -o 'symbols/app/" + id + "/app.sym' 'https://other.example/s/app/" + id + "/app.sym'\n" +
			"curl -fL --create-dirs -C - -o 'symbols/b/" + id + "/b.sym' 'https://other.example/s/b/" + id + "/b.sym'"},
		{host.Mac, "debuginfod+https://other.example", "secret", "curl -H 'Authorization: Bearer TOKEN' -fL --create-dirs -C - -o 'symbols/buildid/0123456789abcdef/debuginfo' 'https://other.example/buildid/0123456789abcdef/debuginfo'"},
		{host.Windows, "microsoft+https://other.example", "", "curl.exe -fL --create-dirs -C - -o 'symbols/app.pdb/" + id + "/app.pdb' 'https://other.example/app.pdb/" + id + "/app.pdb'; if (-not $?) { " +
			"curl.exe -fL --create-dirs -C - -o 'symbols/app.pdb/" + id + "/app.pd_' 'https://other.example/app.pdb/" + id + "/app.pd_' }\n" +
			"curl.exe -fL --create-dirs -C - -o 'symbols/app.exe/5F5E10003000/app.exe' 'https://other.example/app.exe/5F5E10003000/app.exe'; if (-not $?) { " +
			"curl.exe -fL --create-dirs -C - -o 'symbols/app.exe/5F5E10003000/app.ex_' 'https://other.example/app.exe/5F5E10003000/app.ex_' }"},
		{host.Linux, "", "", ""},
	} {
		p, h, _ := openSources()
		h.system = c.system
		p.Input("symbols-base", c.base)
		p.Input("symbols-token", c.token)
		drawn(p)
		p.Act("copy-curl", "")
		if h.copied != c.want {
			t.Errorf("%s, %s: copied\n%s\nwant\n%s", c.system, c.base, h.copied, c.want)
		}
	}
	p, h, _ := openSources()
	const evil = "$(reboot)';`x`\"&|\n%é"
	say(p, &protocol.Missing{Rows: []rows.MissingRow{{DebugFile: evil, DebugID: id, Stores: []rows.StoreFile{{Layout: "breakpad", Path: evil + "/" + id + "/" + evil + ".sym"}}}}})
	drawn(p)
	p.Act("copy-curl", "")
	words := strings.Split(h.copied, "'")
	if len(words) != 5 || strings.Trim(words[1], "/._-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" || strings.ContainsAny(h.copied, "`\"|\n\\") {
		t.Errorf("copied %q", h.copied)
	}
}

func TestSourceIsRememberedOnlyWhenWanted(t *testing.T) {
	p, h, _ := openSources()
	p.Act("ask", "")
	if h.stored["symbols"] != "" {
		t.Error("the source is remembered without a word")
	}
	p.Act("remember", "")
	if h.stored["symbols"] != "https://symbols.example" {
		t.Error("the source is not remembered")
	}
	p.Act("cancel", "")
	if h.fetchStops != 2 || p.Work.Busy() {
		t.Errorf("%d of 2 were stopped", h.fetchStops)
	}
	p.Act("remember", "")
	if h.stored["symbols"] != "" {
		t.Error("the source is not forgotten")
	}
}

// A viewer that is the whole page says how to check that it sends nothing. In a host page it cannot
// vouch for that page.
func TestThePromiseIsOfTheWholeWindow(t *testing.T) {
	p, _, _ := newTestPage("")
	p.HostPage.Watch = func(Event) {}
	if out := render(t, p); !strings.Contains(out, "Turn the network off") {
		t.Error("the page's own promise is missing")
	}
	p.Inside = true
	if out := render(t, p); strings.Contains(out, "Turn the network off") || !strings.Contains(out, "What the host page around it does") {
		t.Error("the viewer promises for its host page")
	}
}
