package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

func checkFormat(t *tree) ([]string, string, error) {
	var wrong []string
	for _, name := range t.files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		content, err := t.read(name)
		if err != nil {
			return nil, "", err
		}
		formatted, err := format.Source(content)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", name, err))
		} else if !bytes.Equal(content, formatted) {
			wrong = append(wrong, name+": not formatted; gofmt -w "+name)
		}
	}
	return wrong, "", nil
}

// checkVet runs go vet twice, natively and for js/wasm, because it reads the files of one platform
// only.
func checkVet(t *tree) ([]string, string, error) {
	var wrong []string
	for _, env := range [][]string{nil, inBrowser} {
		vet := exec.Command("go", "vet", "./...")
		vet.Dir = t.root
		vet.Env = append(os.Environ(), env...)
		if text, err := vet.CombinedOutput(); err != nil {
			for _, line := range strings.Split(string(text), "\n") {
				if line != "" && !strings.HasPrefix(line, "#") {
					wrong = append(wrong, strings.TrimSpace(strings.Join(env, " ")+" go vet: ")+" "+line)
				}
			}
		}
	}
	return wrong, "", nil
}

// checkGenerated generates the Go code of the Vugu components in copies of their folders, and compares
// it with the committed code.
func checkGenerated(t *tree) ([]string, string, error) {
	var wrong []string
	count := 0
	for _, folder := range foldersOf(t.files, func(name string) bool { return path.Ext(name) == ".vugu" }) {
		lines, n, err := checkComponents(t, folder)
		if err != nil {
			return nil, "", err
		}
		wrong, count = append(wrong, lines...), count+n
	}
	return wrong, fmt.Sprintf("%d files", count), nil
}

// checkComponents is checkGenerated for one folder. It returns the number of files, too.
func checkComponents(t *tree, folder string) (wrong []string, count int, err error) {
	source := filepath.Join(t.root, filepath.FromSlash(folder))
	// The copy is inside the module, so that the generator resolves imports as in the original. The
	// go command leaves folders that begin with an underscore out of "./...". Its name is the package's.
	parent := filepath.Join(t.root, "dist", "_generated")
	copied := filepath.Join(parent, path.Base(folder))
	defer os.RemoveAll(parent)
	if err := os.RemoveAll(parent); err != nil {
		return nil, 0, err
	}
	if err := copySources(source, copied); err != nil {
		return nil, 0, err
	}
	generate := exec.Command("go", "tool", "vugugen", "-skip-go-mod", "-skip-main", copied)
	generate.Dir = t.root
	if text, err := generate.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("generating the components of %s: %s", folder, oneLine(string(text)))
	}
	generated, err := readGenerated(copied)
	if err != nil {
		return nil, 0, err
	}
	committed, err := readGenerated(source)
	if err != nil {
		return nil, 0, err
	}
	return compareGenerated(folder, generated, committed), len(generated), nil
}

// copySources copies the folder's files except generated ones and tests.
func copySources(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readGenerated returns the generated files of a folder, by name, each formatted.
func readGenerated(dir string) (map[string]string, error) {
	files := map[string]string{}
	names, err := fs.Glob(os.DirFS(dir), "*_gen.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		formatted, err := format.Source(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = string(formatted)
	}
	return files, nil
}

// compareGenerated returns a line for each file that is missing in committed, differs there, or is
// only there.
func compareGenerated(folder string, generated, committed map[string]string) []string {
	wrong := map[string]bool{}
	for name, content := range generated {
		if old, there := committed[name]; !there {
			wrong[fmt.Sprintf("%s/%s is missing; make gen", folder, name)] = true
		} else if old != content {
			wrong[fmt.Sprintf("%s/%s is out of date; make gen", folder, name)] = true
		}
	}
	for name := range committed {
		if _, wanted := generated[name]; !wanted {
			wrong[fmt.Sprintf("%s/%s has no source any more; remove it", folder, name)] = true
		}
	}
	return sorted(wrong)
}
