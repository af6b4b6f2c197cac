package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// write makes the folder contain exactly these files. It does not touch a file that already has the
// right content, because build/serve makes the ETag from the file's time. It writes index.html
// after the files that index.html names, and removes old files last, so that a page that a browser
// loads meanwhile finds all its files.
func write(dir string, files map[string][]byte) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	isIndex := func(name string) bool { return strings.HasPrefix(name, "index.html") }
	sort.Slice(names, func(i, j int) bool {
		if a, b := isIndex(names[i]), isIndex(names[j]); a != b {
			return b
		}
		return names[i] < names[j]
	})
	for _, name := range names {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		if _, wanted := files[filepath.ToSlash(relative)]; wanted {
			return nil
		}
		return os.Remove(full)
	})
}

// writeFile writes a file by renaming a temporary one, so that readers never see a part of it. It
// does nothing if the file already has the content.
func writeFile(full string, content []byte) error {
	if old, err := os.ReadFile(full); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(full+".part", content, 0o644); err != nil {
		return err
	}
	return os.Rename(full+".part", full)
}
