package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// goMod is the part of go mod edit -json's output that checkGoMod needs.
type goMod struct {
	Require []struct {
		Path     string
		Indirect bool
	}
	Tool []struct{ Path string }
}

// checkGoMod compares the "// indirect" comments of go.mod with the imports of the packages, as go
// mod tidy does. Unlike go mod tidy, which also reads the tests of other modules, it needs no
// network.
func checkGoMod(t *tree) ([]string, string, error) {
	edit := exec.Command("go", "mod", "edit", "-json")
	edit.Dir = t.root
	text, err := edit.Output()
	if err != nil {
		return nil, "", fmt.Errorf("go mod edit -json: %w", err)
	}
	var file goMod
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, "", err
	}
	imports := map[string]bool{}
	for _, tool := range file.Tool {
		imports[tool.Path] = true
	}
	for _, env := range [][]string{nil, inBrowser} {
		packages, err := goList(t.root, env, "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
		if err != nil {
			return nil, "", err
		}
		for _, p := range packages {
			for _, list := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
				for _, path := range list {
					imports[path] = true
				}
			}
		}
	}
	return judgeGoMod(file, imports), fmt.Sprintf("%d modules", len(file.Require)), nil
}

// judgeGoMod returns the requirements of go.mod that have the wrong comment, given the import paths
// of all packages. An import belongs to the module with the longest path that is a prefix of it:
// a/b/x to a/b, not to a.
func judgeGoMod(file goMod, imports map[string]bool) []string {
	used := map[string]bool{}
	for path := range imports {
		longest := ""
		for _, r := range file.Require {
			if (path == r.Path || strings.HasPrefix(path, r.Path+"/")) && len(r.Path) > len(longest) {
				longest = r.Path
			}
		}
		used[longest] = true
	}
	var wrong []string
	for _, r := range file.Require {
		switch {
		case r.Indirect && used[r.Path]:
			wrong = append(wrong, fmt.Sprintf("go.mod: %s is imported here, but is marked // indirect; run go mod tidy", r.Path))
		case !r.Indirect && !used[r.Path]:
			wrong = append(wrong, fmt.Sprintf("go.mod: %s is not imported here, and is not marked // indirect; run go mod tidy", r.Path))
		}
	}
	return wrong
}
