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

// maxFetched is how many bytes, at brotli 11, may be fetched until a dump is open; maxFull is how large the engine with all readers
// may be, which is fetched when a binary is dropped.
const (
	maxFetched = 1_600_000
	maxFull    = 2_500_000
	fullWasm   = "crashpane-full.wasm"
)

func checkSize(t *tree) ([]string, string, error) {
	if _, err := os.Stat(t.site); err != nil {
		return nil, "", fmt.Errorf("%s is not there; make build", t.site)
	}
	return judgeSize(os.DirFS(t.site), maxFetched, maxFull)
}

// later are the files that nobody waits for: what is read by people, by hosts, or by the browser when the page is idle, and what
// is for pages that embed a viewer.
var later = map[string]bool{"licenses.txt": true, "_headers": true, ".htaccess": true, ".assetsignore": true,
	"sw.js": true, "crashpane-app.js": true, "manifest.webmanifest": true, "icon-192.png": true, "icon-512.png": true, "icon-maskable.png": true,
	"embed.html": true, "crashpane-embed.js": true, "crashpane-embed.css": true}

// judgeSize adds up what the page fetches: everything that stands in the site but the sample, which nobody gets without asking,
// and what comes later.
func judgeSize(files fs.FS, limit, limitFull int64) ([]string, string, error) {
	total, full := int64(0), int64(-1)
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
		if later[plainName(name)] || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
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
		if plainName(name) == fullWasm {
			full = info.Size()
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
	said := fmt.Sprintf("%d of %d bytes (%s)", total, limit, strings.Join(parts, ", "))
	var wrong []string
	if total > limit {
		wrong = append(wrong, "what is fetched until a dump is open is too large: "+said)
	}
	switch {
	case full < 0:
		wrong = append(wrong, "the built page has no "+fullWasm)
	case full > limitFull:
		wrong = append(wrong, fmt.Sprintf("%s is too large: %d of %d bytes", fullWasm, full, limitFull))
	}
	return wrong, said + fmt.Sprintf("; %s %d of %d", fullWasm, full, limitFull), nil
}

// plainName takes the hash out of a name.
func plainName(name string) string {
	if !site.Hashed(name) {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext)[:len(name)-len(ext)-site.HashLen-1] + ext
}
