// Components writes the Go code of the Vugu components of a folder: Vugu's own generator runs
// first, then a pass over what it wrote, which makes the page's program smaller.
//
//	components web/app
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: components FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "components:", err)
		os.Exit(1)
	}
}

// generate writes NAME_gen.go for each NAME.vugu of a folder.
func generate(dir string) error {
	if text, err := exec.Command("go", "tool", "vugugen", "-skip-go-mod", "-skip-main", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("vugugen: %s", strings.Join(strings.Fields(string(text)), " "))
	}
	names, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil || len(names) == 0 {
		return errors.Join(err, fmt.Errorf("%s has no components", dir))
	}
	for _, name := range names {
		code, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if code, err = compact(name, code); err != nil {
			return err
		}
		if err := os.WriteFile(name, code, 0o644); err != nil {
			return err
		}
	}
	return nil
}
