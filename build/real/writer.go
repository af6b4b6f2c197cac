//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// target32 is Rust's name of 32-bit x86 Linux.
const target32 = "i686-unknown-linux-gnu"

var errNoTarget = errors.New("Rust cannot compile for 32-bit x86: rustup target add " + target32)

// writers are the built programs that write dumps, 64-bit and 32-bit. A 32-bit process' dump needs
// a 32-bit writer.
type writers struct{ paths [2]string }

// get builds the writer and returns its path. The first build takes minutes; later ones use cargo's
// files under dist.
func (w *writers) get(bits32 bool) (string, error) {
	at, folder, args := 0, "release", []string{"build", "--release", "--locked", "--quiet"}
	if bits32 {
		at, folder, args = 1, filepath.Join(target32, "release"), append(args, "--target", target32)
	}
	if w.paths[at] != "" {
		return w.paths[at], nil
	}
	target, err := filepath.Abs("dist/real/writer")
	if err != nil {
		return "", err
	}
	text, err := runTool(20*time.Minute, "build/real/writer", []string{"CARGO_TARGET_DIR=" + target}, "cargo", args...)
	if bits32 && strings.Contains(text, "may not be installed") {
		return "", errNoTarget
	}
	if err != nil {
		return "", fmt.Errorf("cargo build: %w: %s", err, lastLine(text))
	}
	w.paths[at] = filepath.Join(target, folder, "writer")
	return w.paths[at], nil
}
