package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestUnwindEmulatedMachO walks the dumps of macOS programs that an emulator stopped at every 37th
// instruction, with the binary and its dSYM: whole stacks, with all registers that calls preserve.
func TestUnwindEmulatedMachO(t *testing.T) {
	corpus(t)
	dirs, err := filepath.Glob(filepath.Join(corpusRoot, "winapple/emulated/deep-mac-*/*.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	stacks := 0
	for _, truth := range dirs {
		b, err := os.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		var dumps []emulatedDump
		if err := json.Unmarshal(b, &dumps); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(truth)
		files := []string{dir + ".dylib"}
		if more, _ := filepath.Glob(dir + ".dylib.dSYM/Contents/Resources/DWARF/*"); len(more) > 0 {
			files = append(files, more...)
		} else if _, err := os.Stat(dir + ".dylib.dSYM"); err == nil {
			files = append(files, dir+".dylib.dSYM")
		}
		right := 0
		for _, d := range dumps {
			r := walkedWith(t, filepath.Join(dir, d.Dump), files...)
			step := machoStep{Callers: d.Callers}
			if why := step.differs(r, false); why != "" || len(r.Threads[r.FirstThread].Frames) > len(d.Callers)+1 {
				t.Errorf("%s: %d frames, %s", d.Dump, len(r.Threads[r.FirstThread].Frames), why)
				continue
			}
			right++
		}
		stacks += len(dumps)
		t.Logf("%s: %d of %d stacks right", filepath.Base(dir), right, len(dumps))
	}
	if stacks < 110 {
		t.Errorf("%d stacks, there were 110", stacks)
	}
}
