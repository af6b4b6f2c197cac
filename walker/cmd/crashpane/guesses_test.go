package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// TestGuesses: of a program without symbols only the first frame is known. What a scan found behind it
// is one entry of the text; the flag, the other formats and the other tools' policies have it all.
func TestGuesses(t *testing.T) {
	const stack = 0x7ffe0000
	var words []byte
	for i := range 40 {
		words = binary.LittleEndian.AppendUint64(words, uint64(0x401000+0x10*i))
	}
	context := dumptest.AMD64(map[string]uint64{"rip": 0x403010, "rsp": stack})
	dump := filepath.Join(t.TempDir(), "a.dmp")
	made := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Module(0x400000, 0x10000, "/opt/app", nil).
		Thread(7, context, stack, words).Exception(7, 11, 1, 0x45, context).Bytes()
	if err := os.WriteFile(dump, made, 0o644); err != nil {
		t.Fatal(err)
	}
	const run = "\n 1  40 possible callers, found by stack scanning; --guesses lists them\n    Likeliest: 1  app + 0x1000\n"
	for _, c := range []struct {
		args  string
		short bool
		line  string // of the last frame
	}{
		{"", true, ""},
		{"--guesses", false, "\n40  app + 0x1270\n"},
		{"--unwind breakpad", false, "app + 0x1270\n"},
		{"--unwind rust-minidump", false, "app + 0x1270\n"},
		{"--unwind scan", false, "\n40  app + 0x1270\n"},
		{"--format machine", false, "0|40|app||||0x1270\n"},
		{"--format json", false, `"0x0000000000401270"`},
	} {
		code, text, stderr := crashpane(append(append([]string{"walk"}, strings.Fields(c.args)...), dump)...)
		if code != exitOK || strings.Contains(text, run) != c.short || !strings.Contains(text, c.line) || c.short && strings.Contains(text, "0x1270") {
			t.Errorf("%s: exit %d, %s\n%s", c.args, code, stderr, text)
		}
	}
}
