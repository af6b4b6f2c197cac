package intake

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// apportReport makes a report with a core, whose gzip file it divides into parts as Apport does: each is
// base64 of its own.
func apportReport(core []byte, part int) string {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(core)
	z.Close()
	var b strings.Builder
	b.WriteString("ProblemType: Crash\nArchitecture: amd64\nProcMaps:\n 5560-5561 r--p app\n CoreDump: base64\nLong: " + strings.Repeat("x", 2*readSize) + "\nCoreDump: base64\n")
	for p := packed.Bytes(); len(p) > 0; {
		n := min(part, len(p))
		b.WriteString(" " + base64.StdEncoding.EncodeToString(p[:n]) + "\n")
		p = p[n:]
	}
	return b.String() + "Uname: Linux\n"
}

func TestApport(t *testing.T) {
	core := make([]byte, 300_000)
	rand.New(rand.NewSource(1)).Read(core)
	copy(core, "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x3e\x00")
	for _, part := range []int{1, 10, 4096, 100_000} {
		report := apportReport(core, part)
		src := input.FromBytes("app.crash", []byte(report))
		out, err := Expand(src, Limits{}, nil)
		if err != nil || len(out) != 1 || Sniff(out[0]).Kind != ELFCore {
			t.Fatalf("parts of %d bytes: %v, %v", part, out, err)
		}
		got, err := out[0].Bytes(0, out[0].Size)
		if err != nil || !bytes.HasPrefix(core, got) || len(got) != len(core) {
			t.Errorf("parts of %d bytes: %d bytes, %v", part, len(got), err)
		}
	}
	for what, text := range map[string]string{
		"no core":         "ProblemType: Crash\nUname: Linux\n",
		"no base64":       "ProblemType: Crash\nCoreDump: base64\n !!!!\n",
		"no gzip":         "ProblemType: Crash\nCoreDump: base64\n QUJDRA==\n",
		"nothing follows": "ProblemType: Crash\nCoreDump: base64\n",
	} {
		if out, err := Expand(input.FromBytes("app.crash", []byte(text)), Limits{}, nil); err == nil || len(out) != 0 {
			t.Errorf("%s: %v, %v", what, out, err)
		}
	}
	// A report that is cut off has the core as far as it goes.
	report := apportReport(core, 4096)
	out, err := Expand(input.FromBytes("app.crash", []byte(report[:len(report)/2+len(report)/4])), Limits{}, nil)
	if err == nil || len(out) != 1 {
		t.Errorf("cut off: %v, %v", out, err)
	}
}
