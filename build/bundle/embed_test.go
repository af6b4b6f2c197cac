package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestFramePageIsForOthersOnly(t *testing.T) {
	p := sampleParts()
	p.trusted = embedders{"https://portal.example http://127.0.0.1:8090", "secret"}
	files, err := assemble(p)
	if err != nil {
		t.Fatal(err)
	}
	html := string(files["embed.html"])
	for _, want := range []string{`data-origins="https://portal.example http://127.0.0.1:8090"`,
		`data-token-sha256="2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"`, `data-engine-size="15"`, "Content-Security-Policy"} {
		if !strings.Contains(html, want) {
			t.Errorf("embed.html lacks %s:\n%s", want, html)
		}
	}
	script := ""
	for name, content := range files {
		if strings.HasPrefix(name, "crashpane-embed.") && strings.HasSuffix(name, ".js") {
			script = string(content)
		}
		if strings.Contains(string(content), "secret") {
			t.Errorf("%s holds the token itself", name)
		}
	}
	if strings.Contains(script, "import") || strings.Contains(script, "export") || !strings.Contains(script, "class Core {}\nnew Core();") {
		t.Errorf("the script is not one: %s", script)
	}
	if strings.Contains(string(files["sw.js"]), "embed") {
		t.Error("an application keeps what is for other pages")
	}
}

func TestFramePageRefusesWhatIsNoOrigin(t *testing.T) {
	for _, origin := range []string{"*", "portal.example", "https://portal.example/", "https://a.example/path", `https://a"b`, "file://", "javascript:x", "https://user@a.example"} {
		if _, err := (embedders{origins: origin}).list(); err == nil {
			t.Errorf("%q was taken", origin)
		}
	}
}

func TestPackage(t *testing.T) {
	p := sampleParts()
	static := p.static.(fstest.MapFS)
	delete(static, "css/1.css")
	static["css/1-base.css"] = &fstest.MapFile{Data: []byte("@media (max-width: 1080px) { a { height: min(27vh, 100dvh); width: 50vw } }")}
	static["css/2-zones.css"] = &fstest.MapFile{Data: []byte("c{}")}
	p.licenses = []byte("== Crashpane ==\n\nOurs.\n\n== " + goName + " ==\n\nTheirs.")
	files, err := npm(p, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(files["package.json"]); got != `{"version": "1.2.3"}` {
		t.Errorf("package.json: %s", got)
	}
	if got := string(files["LICENSE"]); got != "Ours.\n" {
		t.Errorf("LICENSE: %q", got)
	}
	if style := string(files["style.js"]); strings.Contains(style, "@media (max") || !strings.Contains(style, "@container crashpane (max-width: 1080px)") {
		t.Errorf("the element's style depends on the window: %s", style)
	}
	if style := string(files["style.js"]); !strings.Contains(style, "height: min(27cqh, 100cqh); width: 50cqw") {
		t.Errorf("the element's sizes depend on the window: %s", style)
	}
	if html := string(files["embed.html"]); !strings.Contains(html, `<script type="module" src="embed.js">`) || strings.Contains(html, "crashpane.js") {
		t.Errorf("embed.html: %s", html)
	}
	if style := string(files["style.js"]); !strings.Contains(style, "c{}") {
		t.Errorf("a part of the style is missing: %s", style)
	}
	delete(static, "css/1-base.css")
	delete(static, "css/2-zones.css")
	if _, err := npm(p, "1.2.3"); err == nil {
		t.Error("a style sheet is missing: no error")
	}
}

func TestSemver(t *testing.T) {
	for in, want := range map[string]string{"v1.2.3": "1.2.3", "v1.2.3-4-gabc": "1.2.3-4-gabc", "0123456": "0.0.0-g0123456", "abc-dirty": "0.0.0-gabc-dirty", "": "0.0.0"} {
		if got := semver(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
