package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

// single returns the page as one file, which works from a disk without a server. It contains the
// scripts and styles, which its policy allows by their hashes. The programs are in blocks of base64
// of gzip, which every browser that can run them can unpack (DecompressionStream). The page makes
// the worker from a block by a blob: URL. The policy has connect-src 'none', so that the page can
// neither fetch nor send anything.
//
// pack compresses by gzip.
func single(p parts, pack func([]byte) ([]byte, error)) ([]byte, error) {
	read := func(name string) ([]byte, error) { return fs.ReadFile(p.static, name) }
	index, err := read("index.html")
	if err != nil {
		return nil, err
	}
	loader, worker, err := scriptsOf(p.static)
	if err != nil {
		return nil, err
	}
	starter, err := read("single.js")
	if err != nil {
		return nil, err
	}
	s := &singlePage{html: string(index), static: p.static}
	s.styles()
	s.icon()
	s.html = elementOf("script").ReplaceAllString(s.html, "")
	s.block(`data-block="worker"`, string(workerScript(p.wasmExec, worker)))
	for _, program := range []struct {
		kind    string
		content []byte
	}{{"wasm", p.wasm}, {"engine", p.engine}} {
		packed, err := pack(program.content)
		if err != nil {
			return nil, err
		}
		s.block(`data-block="`+program.kind+`"`, base64.StdEncoding.EncodeToString(packed))
	}
	s.samples(p.sample)
	var script bytes.Buffer
	script.Write(pageScript(p.wasmExec, p.helper, loader))
	enclose(&script, starter)
	s.script(script.String())
	s.block(`data-block="licenses"`, string(p.licenses))
	return s.finish()
}

// singlePage is the page while single builds it.
type singlePage struct {
	html    string
	static  fs.FS
	body    strings.Builder // what comes to the end of the body
	scripts []string        // hashes for the policy
	sheets  []string
	err     error
}

func (s *singlePage) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("the single file: "+format, args...)
	}
}

// elementOf matches the element of the head that names a file, with the end tag if it is a script.
func elementOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`<` + name + `\b[^>]*>(?:</` + name + `>)?\n?`)
}

var sheetLink = regexp.MustCompile(`<link rel="stylesheet" href="crashpane.css">`)

// styles replaces the link to the style sheet by a style element.
func (s *singlePage) styles() {
	s.html = sheetLink.ReplaceAllStringFunc(s.html, func(string) string {
		sheet, err := styleSheet(s.static)
		if err != nil {
			s.fail("%v", err)
		}
		if bytes.Contains(sheet, []byte("url(")) {
			s.fail("the style sheet names another file by url(), which it has not")
		}
		s.sheets = append(s.sheets, hashSource(s.inside("style", string(sheet))))
		return "<style>" + string(sheet) + "</style>"
	})
}

var iconLink = regexp.MustCompile(`<link rel="icon"[^>]* href="([^"]+)">`)

// icon replaces the link to the icon by a data: URL and removes the head's other links.
func (s *singlePage) icon() {
	found := iconLink.FindStringSubmatch(s.html)
	s.html = elementOf("link").ReplaceAllString(s.html, "")
	if found == nil {
		return
	}
	content, err := fs.ReadFile(s.static, found[1])
	if err != nil {
		s.fail("%v", err)
	}
	icon := `<link rel="icon" type="image/svg+xml" href="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString(content) + "\">\n"
	s.html = strings.Replace(s.html, "</head>", icon+"</head>", 1)
}

// inside returns text if an element of that name can contain it. It records an error if text has
// the element's end tag, or "<!--", after which a script's end tag may not end it (HTML Standard,
// section 4.12.1.3).
func (s *singlePage) inside(element, text string) string {
	lower := strings.ToLower(text)
	if strings.Contains(lower, "</"+element) || strings.Contains(text, "<!--") {
		s.fail("a %s element contains its own end tag, or <!--", element)
	}
	return text
}

// block adds data as a script element of a type that browsers do not run.
func (s *singlePage) block(attributes, text string) {
	fmt.Fprintf(&s.body, "<script type=\"text/plain\" %s>%s</script>\n", attributes, s.inside("script", text))
}

func (s *singlePage) samples(sample fs.FS) {
	files := map[string][]byte{}
	if err := addSample(files, sample); err != nil {
		s.fail("%v", err)
	}
	names, err := sampleNames(sample)
	if err != nil {
		s.fail("%v", err)
	}
	for _, name := range names {
		s.block(`data-block="sample" data-name="`+name+`"`, base64.StdEncoding.EncodeToString(files["sample/"+name]))
	}
}

func (s *singlePage) script(text string) {
	s.scripts = append(s.scripts, hashSource(s.inside("script", text)))
	s.body.WriteString("<script>" + text + "</script>\n")
}

func (s *singlePage) finish() ([]byte, error) {
	const end = "</body>"
	if strings.Count(s.html, end) != 1 {
		s.fail("index.html must have %s exactly once", end)
	}
	if s.err != nil {
		return nil, s.err
	}
	html := strings.Replace(s.html, end, s.body.String()+end, 1)
	withPolicy, err := addPolicy(html, site.SingleCSP(s.scripts, s.sheets))
	return []byte(withPolicy), err
}

// hashSource returns a text's hash as a source of a content security policy, 'sha256-…'.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
