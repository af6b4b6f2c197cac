//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/symbols"
)

// peerFrame is a frame in rust-minidump's JSON. Offset is the address that it looked up: for
// callers the return address minus one.
type peerFrame struct {
	Offset string `json:"offset"`
}

// findPeer returns the path of minidump-stackwalk, or "".
func findPeer() string {
	if path, err := exec.LookPath("minidump-stackwalk"); err == nil {
		return path
	}
	home, _ := os.UserHomeDir()
	path := filepath.Join(home, ".cargo", "bin", "minidump-stackwalk")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// peerStacks runs rust-minidump on a dump, with the arguments for its symbols, and returns its
// frames by thread id.
func peerStacks(bin, dump string, symbols ...string) (map[uint32][]peerFrame, error) {
	out := dump + ".peer.json"
	args := append([]string{"--json", "--no-interactive", "--output-file", out}, append(symbols, dump)...)
	if text, err := runTool(10*time.Minute, filepath.Dir(dump), nil, bin, args...); err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(text))
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var state struct {
		Threads []struct {
			ID     uint32      `json:"thread_id"`
			Frames []peerFrame `json:"frames"`
		} `json:"threads"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, err
	}
	stacks := map[uint32][]peerFrame{}
	for _, t := range state.Threads {
		stacks[t.ID] = t.Frames
	}
	return stacks, nil
}

// equalPeer counts rust-minidump's frames up to the first whose pc is not gdb's.
func equalPeer(peer []peerFrame, frames []gdbFrame) int {
	for i := range frames {
		if i >= len(peer) {
			return i
		}
		at, err := strconv.ParseUint(peer[i].Offset, 0, 64)
		if pc := frames[i].PC; err != nil || at != pc && at != pc-1 {
			return i
		}
	}
	return len(frames)
}

// comparePeer counts rust-minidump's equal frames of the threads that were compared.
func (p *process) comparePeer(stacks map[uint32][]peerFrame, ours map[uint32]*ourThread, gdb map[uint32]*gdbThread) int {
	equal := 0
	for id, t := range gdb {
		one := p.compareThread(id, ours[id], t)
		equal += equalPeer(stacks[id], t.Frames[:one.known])
	}
	return equal
}

// makeSymbols writes a symbol file of each module that has a frame, unless the folder has it, in
// the layout that rust-minidump expects: NAME/ID/NAME.sym.
func makeSymbols(w *walked, dir string) error {
	r := w.files.Report(0)
	needed := map[string]bool{}
	for i := range r.Modules {
		// Some programs map hundreds of files.
		if m := &r.Modules[i]; m.Frames > 0 || m.SymbolsRequested {
			needed[m.DebugID] = true
		}
	}
	for _, item := range w.files.Items() {
		if !needed[item.SymID] || item.SymID == "" {
			continue
		}
		var err error
		w.files.WithBinary(item.ID, func(b symbols.Binary) {
			if b.Identity().Code {
				err = writeSymbols(b.(*binary.File), filepath.Join(dir, item.SymName, item.SymID, item.SymName+".sym"))
			}
		})
		if err != nil {
			return fmt.Errorf("symbols of %s: %w", item.Name, err)
		}
	}
	return nil
}

// writeSymbols writes a symbol file of a binary, unless the file is there.
func writeSymbols(b *binary.File, path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	_, err = b.WriteSym(out, binary.SymOptions{})
	return errors.Join(err, out.Flush(), f.Close())
}
