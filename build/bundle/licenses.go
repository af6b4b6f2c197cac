package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const goName = "The Go programming language"

// licenses returns the licenses of everything that is linked into the page: this project's, Go's,
// and those of the linked modules.
func licenses(src, goroot string, programs ...string) ([]byte, error) {
	listed, err := goList(src, []string{"GOOS=js", "GOARCH=wasm"}, append([]string{"-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"}, programs...)...)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for _, line := range strings.Split(listed, "\n") {
		if module, dir, ok := strings.Cut(line, "\t"); ok {
			dirs[module] = dir
		}
	}
	modules := make([]string, 0, len(dirs))
	for module := range dirs {
		modules = append(modules, module)
	}
	sort.Strings(modules)

	var b bytes.Buffer
	if err := addLicense(&b, "Crashpane", src); err != nil {
		return nil, err
	}
	// Some distributions' packages of Go have its license in another folder.
	if err := addLicense(&b, goName, goroot); err != nil {
		fmt.Fprintf(&b, "== %s ==\n\nBSD 3-Clause; the text is at https://go.dev/LICENSE\n\n", goName)
	}
	for _, module := range modules {
		if err := addLicense(&b, module, dirs[module]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// addLicense appends the license file of a folder. A module without a license must not be
// distributed, so its absence is an error.
func addLicense(b *bytes.Buffer, name, dir string) error {
	for _, file := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err == nil {
			fmt.Fprintf(b, "== %s ==\n\n%s\n\n", name, bytes.TrimSpace(text))
			return nil
		}
	}
	return fmt.Errorf("%s: found no license in %s", name, dir)
}
