package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

//go:embed compress.mjs
var compressor string

// compress adds the .br and .gz form of each file. Brotli at level 11 takes about ten seconds for
// the wasm, so compress caches each result under the SHA-256 of its input and of the compressor.
// With quick it compresses files that the cache lacks at a low level, in less than a second:
// developers use this to look at a change.
func compress(files map[string][]byte, cache string, quick bool) (map[string][]byte, error) {
	all := map[string][]byte{}
	kept := map[string]string{}    // name of a file, where its compressed forms are kept
	missing := []string{"11", "9"} // arguments of the compressor
	if quick {
		missing = []string{"5", "6"}
	}
	for name, content := range files {
		all[name] = content
		if !site.Compresses(name) {
			continue
		}
		sum := sha256.Sum256(append([]byte(compressor), content...))
		at := filepath.Join(cache, hex.EncodeToString(sum[:16]))
		there := exists(at+".br") && exists(at+".gz")
		if quick && !there {
			at += ".quick"
			there = exists(at+".br") && exists(at+".gz")
		}
		kept[name] = at
		if !there {
			if err := os.WriteFile(at, content, 0o644); err != nil {
				return nil, err
			}
			defer os.Remove(at)
			missing = append(missing, at)
		}
	}
	if len(missing) > 2 {
		node := exec.Command("node", append([]string{"--input-type=module", "-"}, missing...)...)
		node.Stdin = strings.NewReader(compressor)
		if text, err := node.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compressing with node: %w: %s", err, bytes.TrimSpace(text))
		}
	}
	for name, at := range kept {
		for _, suffix := range []string{".br", ".gz"} {
			packed, err := os.ReadFile(at + suffix)
			if err != nil {
				return nil, err
			}
			// A form that is not smaller is of no use.
			if len(packed) < len(files[name]) {
				all[name+suffix] = packed
			}
		}
	}
	return all, prune(cache, kept)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// prune removes the results of contents that the site no longer has from the cache.
func prune(cache string, kept map[string]string) error {
	needed := map[string]bool{}
	for _, at := range kept {
		needed[filepath.Base(at)] = true
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		ext := filepath.Ext(name)
		if (ext == ".br" || ext == ".gz") && !needed[strings.TrimSuffix(name, ext)] {
			if err := os.Remove(filepath.Join(cache, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
