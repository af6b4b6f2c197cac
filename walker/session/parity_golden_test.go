package session_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/report"
)

// row is a frame or an inlined call, levelled so that ours, Breakpad's and rust-minidump's can be
// compared: base names of modules, a line of 0 as none (Breakpad prints it, rust-minidump
// sometimes), our words of trust.
type row struct {
	Module, Function, File string
	Line                   uint32
	Trust                  string // "inline" for an inlined call; "" if the golden does not say
	PC                     uint64 // of a physical frame; 0 if the golden does not say
}

// frame is a physical frame with the calls inlined into it, innermost first, the frame itself last.
type frame []row

// stacks are a golden's frames by thread index of the dump.
type stacks map[int][]frame

// frames gathers rows: an inlined call belongs to the next row that is a frame.
func frames(rows []row) []frame {
	var out []frame
	start := 0
	for i := range rows {
		if rows[i].Trust != "inline" {
			out = append(out, rows[start:i+1])
			start = i + 1
		}
	}
	return out
}

// golden reads a file of the corpus, or its .gz, unpacked. It returns nil if neither exists.
func golden(t *testing.T, path string) []byte {
	t.Helper()
	if b, err := os.ReadFile(path); err == nil {
		return b
	}
	if _, err := os.Stat(path + ".gz"); err != nil {
		return nil
	}
	return testfile.Read(t, path+".gz")
}

// ourFrames levels a thread of a report.
func ourFrames(r *report.Report, th *report.Thread) []frame {
	out := make([]frame, len(th.Frames))
	for i := range th.Frames {
		f := &th.Frames[i]
		module := ""
		if f.Module >= 0 {
			module = report.BaseName(r.Modules[f.Module].Name)
		}
		for _, in := range f.Inlines {
			out[i] = append(out[i], row{Module: module, Function: in.Function.Raw, File: in.File, Line: in.Line, Trust: "inline"})
		}
		out[i] = append(out[i], row{Module: module, Function: f.Function.Raw, File: f.File, Line: f.Line, Trust: f.Trust, PC: f.PC})
	}
	return out
}

// breakpadStacks reads the machine form and, for trust and pc, the human one (nil if the corpus has
// none). walked are the dump's indices of the threads that Breakpad numbers.
func breakpadStacks(t *testing.T, machine, human []byte, walked []int) stacks {
	t.Helper()
	out, rows := stacks{}, map[int][]row{}
	_, body, _ := bytes.Cut(machine, []byte("\n\n"))
	trust := breakpadTrust(human)
	sc := bufio.NewScanner(bytes.NewReader(body))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		f := strings.Split(sc.Text(), "|")
		if len(f) != 7 {
			continue
		}
		n, _ := strconv.Atoi(f[0])
		if n >= len(walked) {
			t.Fatalf("the golden has a thread %d, and we have %d", n, len(walked))
		}
		th := walked[n]
		line, _ := strconv.ParseInt(f[5], 10, 64)
		r := row{Module: f[2], Function: f[3], File: f[4], Line: uint32(line)}
		if i := len(rows[th]); i < len(trust[n]) {
			r.Trust, r.PC = trust[n][i].Trust, trust[n][i].PC
		}
		rows[th] = append(rows[th], r)
	}
	for th := range rows {
		out[th] = frames(rows[th])
	}
	return out
}

var breakpadWords = map[string]string{
	"given as instruction pointer in context": "context",
	"call frame info":                         "cfi",
	"call frame info with scanning":           "cfi_scan",
	"previous frame's frame pointer":          "frame_pointer",
	"stack scanning":                          "scan",
	"simulating a return from leaf function":  "leaf",
	"recovered by external stack walker":      "prewalked",
	"inline record":                           "inline",
	"unknown":                                 "none",
}

// breakpadTrust reads trust and pc of each frame, by Breakpad's thread number.
func breakpadTrust(human []byte) map[int][]row {
	out := map[int][]row{}
	thread, pc := -1, uint64(0)
	sc := bufio.NewScanner(bytes.NewReader(human))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		s := sc.Text()
		switch {
		case strings.HasPrefix(s, "Thread "):
			thread, _ = strconv.Atoi(strings.Fields(s)[1])
		case strings.HasPrefix(s, "Loaded modules:"):
			return out
		case strings.HasPrefix(s, "    Found by: "):
			out[thread] = append(out[thread], row{Trust: breakpadWords[s[len("    Found by: "):]], PC: pc})
			pc = 0
		case strings.HasPrefix(s, "    "):
			f := strings.Fields(s)
			for i := 0; i+2 < len(f); i += 3 {
				if f[i] == "eip" || f[i] == "rip" || f[i] == "pc" {
					pc, _ = strconv.ParseUint(f[i+2], 0, 64)
				}
			}
		}
	}
	return out
}

// rustReport is what is compared of rust-minidump's JSON.
type rustReport struct {
	Threads []struct {
		Frames []rustFrame
	}
}

type rustFrame struct {
	Module, Function, File *string
	Line                   *uint32
	Trust, Offset          string
	Inlines                []struct {
		Function, File *string
		Line           *uint32
	}
}

func rustStacks(t *testing.T, data []byte, callSize uint64) stacks {
	t.Helper()
	var r rustReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	out := stacks{}
	for i, th := range r.Threads {
		for n, f := range th.Frames {
			var fr frame
			for _, in := range f.Inlines {
				fr = append(fr, row{Module: str(f.Module), Function: str(in.Function), File: str(in.File), Line: num(in.Line), Trust: "inline"})
			}
			trust := f.Trust
			if trust == "non" {
				trust = "none"
			}
			pc, _ := strconv.ParseUint(f.Offset, 0, 64)
			if n > 0 {
				pc += callSize // the golden has the address inside the call, ours and Breakpad's the one after it
			}
			out[i] = append(out[i], append(fr, row{Module: str(f.Module), Function: str(f.Function), File: str(f.File), Line: num(f.Line), Trust: trust, PC: pc}))
		}
	}
	return out
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func num(n *uint32) uint32 {
	if n == nil {
		return 0
	}
	return *n
}
