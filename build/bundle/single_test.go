package main

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func singleOf(p parts) (string, error) {
	p.static.(fstest.MapFS)["single.js"] = &fstest.MapFile{Data: []byte("boot();\n")}
	html, err := single(p, func(content []byte) ([]byte, error) { return append([]byte("packed "), content...), nil })
	return string(html), err
}

func withPlainStyle() parts {
	p := sampleParts()
	p.static.(fstest.MapFS)["css/1.css"] = &fstest.MapFile{Data: []byte("a { color: red }")}
	return p
}

func TestSingleNamesNoFile(t *testing.T) {
	html, err := singleOf(withPlainStyle())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:src|href|data-wasm|data-worker|data-engine)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page names %q", m[1])
		}
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)
	if policy == nil {
		t.Fatalf("no policy in %s", html)
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "worker-src blob:"} {
		if !strings.Contains(policy[1], want) {
			t.Errorf("the policy lacks %q: %s", want, policy[1])
		}
	}
	if strings.Contains(policy[1], "unsafe-inline") || strings.Contains(policy[1], "http") {
		t.Errorf("the policy allows too much: %s", policy[1])
	}
	for _, m := range regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(policy[1], hashSource(m[2])) {
			t.Errorf("the policy does not allow a %s of the page", m[1])
		}
	}
	for _, want := range []string{
		`data-block="wasm">` + base64.StdEncoding.EncodeToString([]byte("packed \x00asm")) + "<",
		`data-block="sample" data-name="z.dmp">` + base64.StdEncoding.EncodeToString([]byte("MDMP")) + "<",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestSingleRefuses(t *testing.T) {
	for name, change := range map[string]func(*parts){
		"a script that would end its element": func(p *parts) { p.wasmExec = []byte(`x = "</SCRIPT>"`) },
		"a style sheet that names a file":     func(p *parts) { *p = sampleParts() },
		"licenses that hide what follows":     func(p *parts) { p.licenses = []byte("<!-- <script>") },
	} {
		p := withPlainStyle()
		change(&p)
		if _, err := singleOf(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGzippedFindsTheFormOfAFile(t *testing.T) {
	find := gzipped(map[string][]byte{"a.js": []byte("a"), "a.js.gz": []byte("A"), "b.js": []byte("b")})
	if got, err := find([]byte("a")); err != nil || !bytes.Equal(got, []byte("A")) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := find([]byte("b")); err == nil {
		t.Error("no form, no error")
	}
}
