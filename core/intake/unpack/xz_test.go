package unpack

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"
)

func samples() map[string][]byte {
	rng := rand.New(rand.NewSource(3))
	var text bytes.Buffer
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, "FUNC %x %x 0 ns%d::Class%d::method(int)\n", text.Len(), rng.Intn(400), rng.Intn(9), rng.Intn(5000))
	}
	noise := make([]byte, 300_000)
	rng.Read(noise)
	return map[string][]byte{"none": nil, "one": {7}, "text": text.Bytes(), "noise": noise, "zeros": make([]byte, 3<<20),
		"mixed": bytes.Join([][]byte{text.Bytes()[:200_000], noise, text.Bytes()[:400_000]}, nil)}
}

func packed(t testing.TB, data []byte, c xz.WriterConfig) []byte {
	var b bytes.Buffer
	w, err := c.NewWriter(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unxz(data []byte) ([]byte, error) {
	r, err := newXZ(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestXZ: what the library packs comes out as it went in, whatever the check, the dictionary, the blocks and the properties.
func TestXZ(t *testing.T) {
	for name, data := range samples() {
		for _, c := range []xz.WriterConfig{{}, {CheckSum: xz.CRC32}, {CheckSum: xz.SHA256}, {NoCheckSum: true}, {DictCap: 64 << 10}, {BlockSize: 100_000}} {
			all := packed(t, data, c)
			if got, err := unxz(all); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, %+v: %d of %d bytes, %v", name, c, len(got), len(data), err)
			}
		}
	}
	// Streams one behind the other, with padding between and behind them, read in pieces of a byte.
	a, b := packed(t, []byte("one "), xz.WriterConfig{}), packed(t, []byte("two"), xz.WriterConfig{CheckSum: xz.CRC32})
	r, err := newXZ(iotest.OneByteReader(bytes.NewReader(bytes.Join([][]byte{a, make([]byte, 8), b, make([]byte, 4)}, nil))))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(iotest.OneByteReader(r)); err != nil || string(got) != "one two" {
		t.Errorf("%q %v", got, err)
	}
}

// TestXZTool reads what the xz program packs: with other properties than the library's, and with blocks whose sizes stand in their headers.
func TestXZTool(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no programs here")
	}
	for name, data := range samples() {
		for _, args := range []string{"-0", "-6", "-9e", "--lzma2=lc=0,lp=4,pb=0", "--lzma2=lc=4,lp=0,pb=4,dict=64KiB", "-T2 --block-size=500000", "-Cnone"} {
			tool := exec.Command("xz", append(strings.Fields(args), "-c")...)
			tool.Stdin = bytes.NewReader(data)
			all, err := tool.Output()
			if err != nil {
				t.Skip("*** SKIPPED: no xz: ", err)
			}
			if got, err := unxz(all); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, %s: %d of %d bytes, %v", name, args, len(got), len(data), err)
			}
		}
	}
	tool := exec.Command("xz", "--x86", "--lzma2", "-c")
	tool.Stdin = strings.NewReader("filtered")
	if all, err := tool.Output(); err == nil {
		if _, err := unxz(all); err == nil || !strings.Contains(err.Error(), "filter 0x4") {
			t.Errorf("filtered data: %v", err)
		}
	}
}

// TestXZDamaged: what is cut off or changed anywhere is an error, and no panic; what came out before is right.
func TestXZDamaged(t *testing.T) {
	data := samples()["mixed"][150_000:260_000]
	all := packed(t, data, xz.WriterConfig{BlockSize: 60_000})
	step := max(1, len(all)/1500)
	for n := 0; n < len(all); n += step {
		got, err := unxz(all[:n])
		if err == nil || !bytes.HasPrefix(data, got) {
			t.Fatalf("cut at %d of %d: %d bytes, %v", n, len(all), len(got), err)
		}
		broken := bytes.Clone(all)
		broken[n] ^= 0x10
		if _, err := unxz(broken); err == nil {
			t.Fatalf("changed at %d: no error", n)
		}
	}
	if _, err := unxz(append(bytes.Clone(all), "more"...)); err == nil {
		t.Error("something else behind the data is taken")
	}
}

// FuzzXZ: no panic, and nothing comes out that the library does not give.
func FuzzXZ(f *testing.F) {
	for _, data := range samples() {
		f.Add(packed(f, data[:min(len(data), 3000)], xz.WriterConfig{}))
		f.Add(packed(f, data[:min(len(data), 3000)], xz.WriterConfig{NoCheckSum: true, BlockSize: 1000}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newXZ(bytes.NewReader(data))
		if err != nil {
			return
		}
		got, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if err != nil || len(got) == 1<<20 {
			return
		}
		lib, err := xz.NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		if want, err := io.ReadAll(io.LimitReader(lib, 1<<20)); err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	})
}

func BenchmarkXZ(b *testing.B) {
	data := samples()["text"]
	all := packed(b, data, xz.WriterConfig{})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := newXZ(bytes.NewReader(all))
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
