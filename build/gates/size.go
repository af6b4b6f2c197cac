package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

// maxFetched is how many bytes, compressed by brotli at level 11, a browser may fetch until the page
// is usable, and maxEngine how many of the engine's program, which it fetches after that.
const (
	maxFetched = 930_000
	maxEngine  = 2_750_000
	engineWasm = "crashpane-engine.wasm"
)

func checkSize(t *tree) ([]string, string, error) {
	if _, err := os.Stat(t.site); err != nil {
		return nil, "", fmt.Errorf("%s is not there; make build", t.site)
	}
	return judgeSize(os.DirFS(t.site), maxFetched, maxEngine)
}

// notCounted are the files that a browser does not fetch before the page is usable: those for people
// and hosts, those that the browser fetches when the page is idle, and those for pages that embed
// the viewer.
var notCounted = map[string]bool{"licenses.txt": true, "_headers": true, ".htaccess": true, ".assetsignore": true,
	"sw.js": true, "crashpane-app.js": true, "manifest.webmanifest": true, "icon-192.png": true, "icon-512.png": true, "icon-maskable.png": true, "page-light.webp": true, "page-dark.webp": true,
	"embed.html": true, "crashpane-embed.js": true, "crashpane-embed.css": true}

// judgeSize adds up the sizes of the site's files, each as its .br file if there is one, without
// those in notCounted and without the sample, which the page fetches on a click. It compares the
// sum with limit, and the size of the engine's program with limitEngine.
func judgeSize(files fs.FS, limit, limitEngine int64) ([]string, string, error) {
	total, engine := int64(0), int64(-1)
	var parts []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name == "sample" {
				return fs.SkipDir
			}
			return nil
		}
		if notCounted[plainName(name)] || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			return nil
		}
		info, err := fs.Stat(files, name)
		if site.Compresses(name) {
			if packed, packedErr := fs.Stat(files, name+".br"); packedErr == nil {
				info = packed
			}
		}
		if err != nil {
			return err
		}
		if plainName(name) == engineWasm {
			engine = info.Size()
			return nil
		}
		total += info.Size()
		parts = append(parts, fmt.Sprintf("%s %d", plainName(name), info.Size()))
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if total == 0 {
		return nil, "", fmt.Errorf("the built page has no files")
	}
	sort.Strings(parts)
	summary := fmt.Sprintf("%d of %d bytes (%s)", total, limit, strings.Join(parts, ", "))
	var wrong []string
	if total > limit {
		wrong = append(wrong, "the files that a browser fetches until the page is usable are too large: "+summary)
	}
	switch {
	case engine < 0:
		wrong = append(wrong, "the built page has no "+engineWasm)
	case engine > limitEngine:
		wrong = append(wrong, fmt.Sprintf("%s is too large: %d of %d bytes", engineWasm, engine, limitEngine))
	}
	return wrong, summary + fmt.Sprintf("; %s %d of %d", engineWasm, engine, limitEngine), nil
}

// plainName removes the hash from a name: crashpane.0123abcd.js is crashpane.js.
func plainName(name string) string {
	if !site.Hashed(name) {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext)[:len(name)-len(ext)-site.HashLen-1] + ext
}
