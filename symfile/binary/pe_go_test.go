package binary_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// TestGoForWindows: a program of Go has a function table and .debug_frame, which contradict each
// other where a function calls for more stack: it has no frame yet. In its body the table is right,
// which knows where rbp is saved.
func TestGoForWindows(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: there is no compiler")
	}
	exe := filepath.Join(t.TempDir(), "go.exe")
	cmd := exec.Command("go", "build", "-o", exe, "testdata/gowindows/main.go")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("*** SKIPPED: a program for Windows cannot be built: %v\n%s", err, out)
	}
	b := open(t, exe)
	var small uint64
	grows := map[uint64]bool{} // where runtime.morestack and its like begin
	b.Publics(func(rva uint64, name string) error {
		switch name {
		case "main.small":
			small = rva
		case "runtime.morestack", "runtime.morestack_noctxt", "runtime.morestack.abi0", "runtime.morestack_noctxt.abi0":
			grows[rva] = true
		}
		return nil
	})
	s, ans, err := b.Lookup(small)
	if err != nil || ans != symbol.Yes || small == 0 || len(grows) == 0 {
		t.Fatalf("main.small at 0x%x: %v %v, %d functions that make the stack larger", small, ans, err, len(grows))
	}
	code := make([]byte, s.Size)
	if b.Code(small, code) != len(code) {
		t.Fatal("no code")
	}
	atEntry := unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: 8}
	calls, framed := 0, 0
	for i := range code {
		row, ans, err := b.Row(small + uint64(i))
		if err != nil || ans != symbol.Yes {
			t.Fatalf("0x%x: %v %v", small+uint64(i), ans, err)
		}
		if code[i] == 0xe8 && i+5 <= len(code) && grows[small+uint64(i)+5+uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:]))))] {
			if calls++; !row.CFA.Equal(atEntry) {
				t.Errorf("0x%x: %s", small+uint64(i), row.Describe(cpu.AMD64))
			}
		}
		if row.CFA.Reg == cpu.AMD64.FP && len(row.Saved) > 0 {
			framed++
		}
	}
	if calls == 0 || framed < len(code)/3 {
		t.Errorf("%d calls for more stack, %d of %d bytes have a frame", calls, framed, len(code))
	}
}
