package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// archModule is the module with the decoders of instructions. The compiler writes a table that refers
// to other variables as data only if no variable of the package before it is made by a call; files
// come in the order of their names. In archTables, which has such a table of 1,600 rows, errors
// come first. Then a function of 490 KB would make the table whenever an engine starts: 23 of 35 ms of
// what runs before the engine's main function, and 28 KB at brotli 11.
const (
	archModule = "golang.org/x/arch"
	archTables = "ppc64/ppc64asm/tables.go"
)

// tablesFirst makes a copy of archModule in a folder, in which archTables has the first name of its
// package, and returns the flag for go build that uses it.
func tablesFirst(src, folder string) (string, error) {
	dir, err := moduleDir(src, archModule)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	copied := filepath.Join(folder, "arch")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		return "", err
	}
	tables := filepath.Join(copied, filepath.FromSlash(archTables))
	if err := os.Rename(tables, filepath.Join(filepath.Dir(tables), "a_tables.go")); err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return "", err
		}
	}
	// The programs contain the path as it is here, so it says nothing of this machine.
	copied, err = relative(src, copied)
	if err != nil {
		return "", err
	}
	mod, err := filepath.Abs(filepath.Join(folder, "go.mod"))
	if err != nil {
		return "", err
	}
	if text, err := exec.Command("go", "mod", "edit", "-replace="+archModule+"="+copied, mod).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go mod edit: %w: %s", err, text)
	}
	return "-modfile=" + mod, nil
}

// relative returns the path from one folder to another, as go.mod has it.
func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	return "./" + filepath.ToSlash(path), err
}
