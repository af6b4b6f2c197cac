package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/crashpane/crashpane/build/site"
)

const page = `<!doctype html>
<html><head>
<meta charset="utf-8">
<link rel="preload" href="crashpane.wasm" as="fetch" crossorigin>
<link rel="stylesheet" href="crashpane.css">
<link rel="icon" href="icon.svg">
<script src="crashpane.js" data-wasm="crashpane.wasm" data-worker="crashpane-worker.js" data-engine="crashpane-engine.wasm" data-engine-size="0" defer></script>
</head><body></body></html>`

func sampleParts() parts {
	return parts{
		static: fstest.MapFS{
			"index.html":  {Data: []byte(page)},
			"loader.js":   {Data: []byte("load();\n")},
			"symbols.js":  {Data: []byte("")},
			"ranges.js":   {Data: []byte("")},
			"kept.js":     {Data: []byte("")},
			"fetching.js": {Data: []byte("")},
			"unpack.js":   {Data: []byte("")},
			"worker.js":   {Data: []byte("work();\n")},
			"app.js":      {Data: []byte("app();\n")},
			"sw.js":       {Data: []byte("serve(files, version);\n")},
			"css/1.css":   {Data: []byte("a { background: url(dots.svg) }")},
			"icon.svg":    {Data: []byte("<svg/>")},
			"dots.svg":    {Data: []byte("<svg></svg>")},
		},
		embed: fstest.MapFS{
			"embed.html": {Data: []byte(`<html><head><meta charset="utf-8">
<link rel="stylesheet" href="crashpane-embed.css">
<script src="crashpane.js" defer></script>
<script src="crashpane-embed.js" defer></script>
</head><body data-wasm="crashpane.wasm" data-engine-size="0" data-origins="" data-token-sha256=""></body></html>`)},
			"embed.css":    {Data: []byte("e{}")},
			"element.css":  {Data: []byte("@media (max-width: 720px) {}")},
			"core.js":      {Data: []byte("import { a } from \"./a.js\";\nexport class Core {}\n")},
			"embed.js":     {Data: []byte("import { Core } from \"./core.js\";\nnew Core();\n")},
			"package.json": {Data: []byte(`{"version": "0.0.0"}`)},
		},
		sample: fstest.MapFS{
			"a.sym.gz":  {Data: []byte("symbols")},
			"z.dmp":     {Data: []byte("MDMP")},
			"README.md": {Data: []byte("not for the page")},
		},
		wasm:     []byte("\x00asm"),
		engine:   []byte("\x00asm, all of it"),
		wasmExec: []byte(`"use strict"; globalThis.Go = 1;`),
		helper:   helperOpening + "return;})()",
		licenses: []byte("licenses"),
	}
}

func TestAssembleHashesWhatThePageNames(t *testing.T) {
	files, err := assemble(sampleParts())
	if err != nil {
		t.Fatal(err)
	}
	html := string(files["index.html"])
	named := regexp.MustCompile(`(?:href|src|data-wasm|data-worker|data-engine)="([^"]*)"`).FindAllStringSubmatch(html, -1)
	if len(named) != 7 {
		t.Fatalf("the page names %d files: %s", len(named), html)
	}
	if !strings.Contains(html, `data-engine-size="15"`) {
		t.Errorf("the page does not know how large the engine with all readers is: %s", html)
	}
	for _, m := range named {
		if !site.Hashed(m[1]) {
			t.Errorf("%s has no hash", m[1])
		}
		if files[m[1]] == nil {
			t.Errorf("the page names %s, which is not there", m[1])
		}
	}
	// The style sheet names this file, and the bundle does not rewrite style sheets.
	if files["dots.svg"] == nil {
		t.Error("a file that only the style sheet names must keep its name")
	}
	for name := range files {
		if strings.Contains(name, "loader") || strings.Contains(name, "README") {
			t.Errorf("%s does not belong into the site", name)
		}
	}
}

func TestAssembleGivesChangedFilesNewNames(t *testing.T) {
	p := sampleParts()
	before, err := assemble(p)
	if err != nil {
		t.Fatal(err)
	}
	p.wasm = []byte("\x00asm, changed")
	after, err := assemble(p)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for name := range after {
		if before[name] == nil {
			changed = append(changed, name)
		}
	}
	if len(changed) != 1 || !strings.HasSuffix(changed[0], ".wasm") {
		t.Errorf("only the wasm changed, but there are new names: %v", changed)
	}
}

func TestAssemblePutsThePolicyFirst(t *testing.T) {
	files, err := assemble(sampleParts())
	if err != nil {
		t.Fatal(err)
	}
	html := string(files["index.html"])
	at := strings.Index(html, `content="`+site.MetaCSP()+`"`)
	if at < 0 || at > strings.Index(html, "<link") {
		t.Errorf("the policy must stand before what it governs:\n%s", html)
	}
}

func TestAssembleListsTheSampleDumpFirst(t *testing.T) {
	files, err := assemble(sampleParts())
	if err != nil {
		t.Fatal(err)
	}
	list := string(files["sample/files.json"])
	if dump, symbols := strings.Index(list, "z.dmp"), strings.Index(list, "a.sym.gz"); dump < 0 || symbols < dump {
		t.Errorf("%s", list)
	}
	if string(files["sample/z.dmp"]) != "MDMP" {
		t.Error("the dump is not there")
	}
}

func TestAssembleJoinsTheStyleSheet(t *testing.T) {
	p := sampleParts()
	static := p.static.(fstest.MapFS)
	delete(static, "css/1.css")
	static["css/2-rest.css"] = &fstest.MapFile{Data: []byte("b{}\n")}
	static["css/1-first.css"] = &fstest.MapFile{Data: []byte("a{}\n")}
	files, err := assemble(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		switch {
		case strings.HasPrefix(name, "css/"):
			t.Errorf("%s is in the site, though it is a part", name)
		case strings.HasPrefix(name, "crashpane.") && strings.HasSuffix(name, ".css") && string(content) != "a{}\nb{}\n":
			t.Errorf("%s: %q", name, content)
		}
	}
	static["crashpane.css"] = &fstest.MapFile{Data: []byte("c{}")}
	if _, err := assemble(p); err == nil {
		t.Error("parts and a whole: no error")
	}
}

func TestAssembleRefuses(t *testing.T) {
	for name, change := range map[string]func(fstest.MapFS, *parts){
		"a page that does not name the wasm": func(static fstest.MapFS, _ *parts) {
			static["index.html"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(page, `"crashpane.wasm"`, `""`))}
		},
		"no style sheet": func(static fstest.MapFS, _ *parts) { delete(static, "css/1.css") },
		"no charset": func(static fstest.MapFS, _ *parts) {
			static["index.html"] = &fstest.MapFile{Data: []byte(strings.Replace(page, `<meta charset="utf-8">`, "", 1))}
		},
		"a second policy": func(static fstest.MapFS, _ *parts) {
			static["index.html"] = &fstest.MapFile{Data: []byte(page + `<meta http-equiv="Content-Security-Policy">`)}
		},
		"a file of a made one's name": func(static fstest.MapFS, _ *parts) {
			static["crashpane.wasm"] = &fstest.MapFile{Data: []byte("x")}
		},
		"an empty sample": func(_ fstest.MapFS, p *parts) { p.sample = fstest.MapFS{} },
	} {
		p := sampleParts()
		change(p.static.(fstest.MapFS), &p)
		if _, err := assemble(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestVuguHelper(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.go")
	sum := ""
	write := func(script string) {
		text, err := strconv.Unquote(script)
		if err != nil {
			t.Fatal(err)
		}
		sum = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		if err := os.WriteFile(file, []byte("package p\n\nconst jsHelperScript = "+script+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	places := ""
	for _, r := range quicker {
		places += r.slow + ";"
	}
	write(strconv.Quote(helperOpening + "return;" + places + `let a='\n'})()`))
	script, err := vuguHelper(file, sum)
	if err != nil || !strings.HasPrefix(script, helperOpening+"return;"+"crashpaneContent(") || !strings.HasSuffix(script, `let a='\n'})()`) {
		t.Errorf("%q, %v", script, err)
	}
	write(strconv.Quote(helperOpening + "})()"))
	if _, err := vuguHelper(file, sum); err == nil {
		t.Error("a helper that works in another way must stop the build")
	}
	write(`"(()=>{})()"`)
	if _, err := vuguHelper(file, sum); err == nil {
		t.Error("a helper that the loader does not know must stop the build")
	}
	write(strconv.Quote(helperOpening + "return;" + places + "})()"))
	if _, err := vuguHelper(file, helperSum); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("a helper that nobody has read must stop the build: %v", err)
	}
}

func TestCompress(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("starts node")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	cache := t.TempDir()
	text := []byte(strings.Repeat("the same again and again ", 400))
	files := map[string][]byte{"a.js": text, "b.txt": []byte("x"), "c.sym.gz": text}
	all, err := compress(files, cache, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"a.js": true, "a.js.br": true, "a.js.gz": true,
		"b.txt": true, "b.txt.br": false, "b.txt.gz": false,
		"c.sym.gz": true, "c.sym.gz.br": false,
	} {
		if got := all[name] != nil; got != want {
			t.Errorf("%s: there %v, want %v", name, got, want)
		}
	}
	// The second call takes the results from the cache, whatever is in it. So does a quick one.
	kept, err := filepath.Glob(filepath.Join(cache, "*.br"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	for _, name := range kept {
		if err := os.WriteFile(name, []byte("kept"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err = compress(map[string][]byte{"a.js": text}, cache, true)
	if err != nil || string(all["a.js.br"]) != "kept" {
		t.Errorf("%q, %v", all["a.js.br"], err)
	}
	if kept, _ = filepath.Glob(filepath.Join(cache, "*.br")); len(kept) != 1 {
		t.Errorf("what the site no longer has must go: %v", kept)
	}
	// A result of a quick call does not replace that of a thorough one.
	other := map[string][]byte{"a.js": append(text, '!')}
	if _, err := compress(other, cache, true); err != nil {
		t.Fatal(err)
	}
	if kept, _ = filepath.Glob(filepath.Join(cache, "*.quick.br")); len(kept) != 1 {
		t.Errorf("made quickly: %v", kept)
	}
	if _, err := compress(other, cache, false); err != nil {
		t.Fatal(err)
	}
	if kept, _ = filepath.Glob(filepath.Join(cache, "*.br")); len(kept) != 1 || strings.Contains(kept[0], "quick") {
		t.Errorf("made well: %v", kept)
	}
}

func TestWriteLeavesOnlyTheseFiles(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, map[string][]byte{"index.html": []byte("1"), "old.js": []byte("o"), "sample/a": []byte("a")}); err != nil {
		t.Fatal(err)
	}
	info := func(name string) os.FileInfo {
		i, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	before := info("sample/a")
	if err := write(dir, map[string][]byte{"index.html": []byte("2"), "sample/a": []byte("a")}); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(dir, "old.js")) {
		t.Error("old.js is still there")
	}
	if !info("sample/a").ModTime().Equal(before.ModTime()) {
		t.Error("a file that did not change was written again")
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "index.html")); string(text) != "2" {
		t.Errorf("index.html: %q", text)
	}
}

func TestPageScriptRuns(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("starts node")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	p := sampleParts()
	p.helper = helperOpening + "return;window.vuguRender=document})()"
	script := pageScript(p.wasmExec, p.helper, []byte(`
const w = {};
crashpaneVuguHelper(w, 7);
console.log(Go, w.vuguRender, typeof vuguRender);
`))
	node := exec.Command("node", "-")
	node.Stdin = strings.NewReader(string(script))
	text, err := node.CombinedOutput()
	if err != nil || strings.TrimSpace(string(text)) != "1 7 undefined" {
		t.Errorf("%s, %v", text, err)
	}
}

// TestWithoutRemarks: the bundle removes lines that are only a comment, and no others.
func TestWithoutRemarks(t *testing.T) {
	const script = "// about\nlet a = 1; // stays\n\t// gone\nconst b = `one\n// of the text\n${a}`;\n  //\nc('http://d');\n//"
	const want = "let a = 1; // stays\nconst b = `one\n// of the text\n${a}`;\nc('http://d');\n"
	if got := withoutRemarks(script); got != want {
		t.Errorf("got %q", got)
	}
}
