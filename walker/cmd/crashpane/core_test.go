package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestDumpOfCore: what dump, report and walk print of a core is in it: no flags, versions or numbers that only a
// minidump has.
func TestDumpOfCore(t *testing.T) {
	const core = "../../../testdata/core/core.crash.zst"
	invented := regexp.MustCompile(`(?i)platform.id|processor = |context\.flags|file_flags|checksum|header\.flags|header\.version|stepping|code_known|private|^flags`)
	for _, args := range [][]string{{"dump", core}, {"report", core}, {"walk", core}} {
		code, text, stderr := crashpane(args...)
		if code != exitOK || len(text) < 500 {
			t.Errorf("%v: exit %d, %d bytes: %s", args, code, len(text), stderr)
		}
		for line := range strings.Lines(text) {
			if invented.MatchString(line) && !strings.HasPrefix(line, "Private texts") {
				t.Errorf("%v: %s", args, line)
			}
		}
	}
}
