package xz

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math/rand"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// hello is what `printf "hello, hello, hello" | xz -9 | base64` makes: a dictionary of 64 MiB.
const hello = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AASAAxdADQZSe6N74yHMe+QAABluyEx33pfWQABKBNfWmX5H7bzfQEAAAAABFla"

func unpack(packed []byte, maxDict int64) (string, error) {
	r, err := NewReader(bytes.NewReader(packed), maxDict)
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(r)
	return string(out), err
}

// Every form that the xz program makes is read: other checks, several blocks and streams, padding.
// A dictionary takes no more memory than is allowed.
func TestAgainstXZ(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var text strings.Builder
	for text.Len() < 300<<10 {
		text.WriteString(strings.Repeat(string(rune('a'+rng.Intn(26))), 1+rng.Intn(9)))
	}
	want := text.String()
	for _, args := range []string{"-6", "-9", "-0 --check=none", "--check=crc32", "--check=sha256", "--block-size=30000", "--lzma2=dict=4KiB"} {
		tool := exec.Command("xz", append(strings.Fields(args), "-c")...)
		tool.Stdin = strings.NewReader(want)
		packed, err := tool.Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("*** SKIPPED: no xz: ", err)
		}
		if got, err := unpack(packed, 8<<20); err != nil || got != want {
			t.Errorf("xz %s: %d bytes of %d, %v", args, len(got), len(want), err)
		}
		twice := append(append(bytes.Clone(packed), 0, 0, 0, 0, 0, 0, 0, 0), packed...)
		if got, err := unpack(twice, 8<<20); err != nil || got != want+want {
			t.Errorf("two streams of xz %s: %d bytes, %v", args, len(got), err)
		}
	}
}

// Each truncation and each changed byte ends in an error, or changes nothing that was unpacked.
func TestDamaged(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(hello)
	if err != nil {
		t.Fatal(err)
	}
	const want = "hello, hello, hello"
	if got, err := unpack(packed, 1<<20); err != nil || got != want {
		t.Fatalf("%q, %v", got, err)
	}
	for i := range packed {
		if _, err := unpack(packed[:i], 1<<20); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
		bad := bytes.Clone(packed)
		bad[i] ^= 0x55
		if got, err := unpack(bad, 1<<20); err == nil && got != want {
			t.Errorf("byte %d changed: %q", i, got)
		}
	}
}

// The blocks of a file share the memory of one dictionary, and none refers to what is in the one before.
func TestManyBlocks(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(hello)
	if err != nil {
		t.Fatal(err)
	}
	const blocks, want = 300, "hello, hello, hello"
	block := packed[12 : len(packed)-20]
	file := append(bytes.Clone(packed[:12]), bytes.Repeat(block, blocks)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := NewReader(bytes.NewReader(file), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, blocks*len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != strings.Repeat(want, blocks) {
		t.Errorf("%q, %v", got[:40], err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
		t.Errorf("%d blocks took %d MB", blocks, n>>20)
	}
	// A second block whose first chunk does not reset the dictionary (e0 to c0).
	second := bytes.Clone(block)
	if at := bytes.IndexByte(second, 0xe0); at < 0 {
		t.Fatal("no chunk")
	} else {
		second[at] = 0xc0
	}
	if got, err := unpack(append(bytes.Clone(file[:12+len(block)]), second...), 64<<20); got != want || err == nil || !strings.Contains(err.Error(), "refer to what is before") {
		t.Errorf("%q, %v", got, err)
	}
}
