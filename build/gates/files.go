package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// listFiles returns the files of the repository: those that git tracks or would add. In an unpacked
// archive without .git they are all files except those in folders that builds create (dist,
// node_modules, target).
func listFiles(root string) ([]string, error) {
	var names []string
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = root
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		text, err := git.Output()
		if err == nil {
			for _, name := range strings.Split(string(text), "\x00") {
				// git still lists a file that was deleted without a commit.
				if info, err := os.Stat(filepath.Join(root, name)); name != "" && err == nil && info.Mode().IsRegular() {
					names = append(names, name)
				}
			}
			sort.Strings(names)
			return names, nil
		}
	}
	err := filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", "node_modules", "dist", "target":
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(root, full)
		names = append(names, filepath.ToSlash(relative))
		return err
	})
	sort.Strings(names)
	return names, err
}

// platforms are the known values of GOOS and GOARCH. The go command builds a file x_GOOS.go,
// x_GOARCH.go or x_GOOS_GOARCH.go for that platform only, and leaves it out of all others without a
// message (go help buildconstraint). So a file with the table of Windows' exceptions called
// reason_windows.go would be missing from the page, which is built for js/wasm.
var platforms = strings.Fields(`
	aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64
	ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

// platformSuffix returns the platform that a Go file's name ends in, or "".
func platformSuffix(name string) string {
	stem, isGo := strings.CutSuffix(path.Base(name), ".go")
	if !isGo {
		return ""
	}
	stem = strings.TrimSuffix(stem, "_test")
	// A name without an underscore has no such suffix: linux.go is built for every platform.
	if at := strings.LastIndex(stem, "_"); at >= 0 && contains(platforms, stem[at+1:]) {
		return stem[at+1:]
	}
	return ""
}

func checkNames(t *tree) ([]string, string, error) {
	var wrong []string
	for _, name := range t.files {
		if suffix := platformSuffix(name); suffix != "" && suffix != "js" {
			wrong = append(wrong, fmt.Sprintf("%s: the go command leaves it out except on %s; put that word first in the name", name, suffix))
		}
	}
	return wrong, "", nil
}

// maxLines is the longest that a file written by hand may be.
const maxLines = 800

// handWritten reports whether a file is source text that people read and change.
func handWritten(name string, content []byte) bool {
	switch path.Ext(name) {
	case ".go", ".vugu", ".js", ".mjs", ".css", ".html", ".py", ".rs", ".cc", ".h", ".sh":
	default:
		return false
	}
	return !generatedLine.Match(content)
}

// generatedLine matches the line by which Go's own tools recognize generated files (go help
// generate).
var generatedLine = regexp.MustCompile(`(?m)^(//|#|/\*) Code generated .* DO NOT EDIT\.`)

func checkLength(t *tree) ([]string, string, error) {
	var wrong []string
	longest, at := 0, ""
	for _, name := range t.files {
		content, err := t.read(name)
		if err != nil {
			return nil, "", err
		}
		if strings.Contains(name, "_gen.go") || !handWritten(name, content) {
			continue
		}
		lines := bytes.Count(content, []byte("\n"))
		if lines > longest {
			longest, at = lines, name
		}
		if lines > maxLines {
			wrong = append(wrong, fmt.Sprintf("%s: %d lines, more than %d; divide it", name, lines, maxLines))
		}
	}
	return wrong, fmt.Sprintf("the longest file written by hand: %s, %d lines", at, longest), nil
}

// maxInFolder is the most Go files in a folder, without tests and generated files: as many as a reader can look through.
const maxInFolder = 40

func checkFolders(t *tree) ([]string, string, error) {
	count := map[string]int{}
	var wrong []string
	most := ""
	for _, name := range t.files {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := t.read(name)
		if err != nil {
			return nil, "", err
		}
		if handWritten(name, content) {
			count[path.Dir(name)]++
		}
	}
	for folder, n := range count {
		if n > count[most] || n == count[most] && folder < most {
			most = folder
		}
		if n > maxInFolder {
			wrong = append(wrong, fmt.Sprintf("%s: %d Go files written by hand, more than %d; divide the package", folder, n, maxInFolder))
		}
	}
	sort.Strings(wrong)
	return wrong, fmt.Sprintf("the most Go files in a folder: %s, %d", most, count[most]), nil
}

// foldersOf returns the folders that have a file, sorted.
func foldersOf(files []string, has func(name string) bool) []string {
	found := map[string]bool{}
	for _, name := range files {
		if has(name) {
			found[path.Dir(name)] = true
		}
	}
	return sorted(found)
}

// machinePath finds absolute paths of a developer's machine, for example in a debug file that a
// compiler wrote. They do not exist on a reader's machine, and they tell the developer's user name.
// A letter, digit, dot or dash before the slash means that it is the middle of another path.
var machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.\-/~*])/(work|root|workspace|Users|home/[a-z][a-z0-9_-]*)/[A-Za-z0-9_.\-]`)

func checkPaths(t *tree) ([]string, string, error) {
	var wrong []string
	for _, name := range t.files {
		content, err := t.read(name)
		if err != nil {
			return nil, "", err
		}
		if strings.HasSuffix(name, ".gz") {
			if content, err = gunzip(content); err != nil {
				return nil, "", fmt.Errorf("%s: %w", name, err)
			}
		}
		for _, found := range findPaths(content) {
			wrong = append(wrong, fmt.Sprintf("%s:%s", name, found))
		}
		if path.Base(name) == "package-lock.json" && bytes.Contains(content, []byte(`"resolved"`)) {
			wrong = append(wrong, name+": names the host of a package registry; remove its \"resolved\" lines")
		}
	}
	return wrong, "", nil
}

// findPaths returns "LINE: names a path of a machine, PATH" for each such path.
func findPaths(content []byte) []string {
	var found []string
	for _, at := range machinePath.FindAllIndex(content, -1) {
		line := 1 + bytes.Count(content[:at[1]], []byte("\n"))
		text := strings.TrimSpace(string(content[at[0]:at[1]]))
		found = append(found, fmt.Sprintf("%d: names a path of a machine, %q...", line, text))
	}
	return found
}

func gunzip(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
