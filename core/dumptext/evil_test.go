package dumptext_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/dumptext"
	"github.com/crashpane/crashpane/core/input"
)

// counting counts what is written and looks at each piece.
type counting struct{ n int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// try prints whatever can be opened, in both forms; it gives the size of the text.
func try(t testing.TB, data []byte) int64 {
	d, err := core.Open(input.FromBytes("a.dmp", data))
	if err != nil {
		return 0
	}
	o := dumptext.Options{All: true, Memory: true}
	var c counting
	if err := dumptext.Write(&c, d, o); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(dumptext.WriteJSON(w, d, o)) }()
	dec := json.NewDecoder(r)
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not JSON: %v", err)
		}
	}
	return c.n
}

// TestEvil cuts a dump everywhere and sets each of its words to values that break readers.
func TestEvil(t *testing.T) {
	data := sample()
	step := 16
	if runtime.GOOS == "js" {
		step = 128
	}
	for n := 0; n < len(data); n += 13 {
		try(t, data[:n])
	}
	for at := 0; at+4 <= len(data); at += 4 {
		for _, v := range []uint32{0, 1, 0x7fffffff, 0xffffffff} {
			if at > 400 && at%step != 0 {
				continue // the header, the directory and the first streams in full, a part of the rest
			}
			p := append([]byte(nil), data...)
			binary.LittleEndian.PutUint32(p[at:], v)
			try(t, p)
		}
	}
}

// TestOverlapping: streams and ranges of memory that are all the whole file must not be printed
// all.
func TestOverlapping(t *testing.T) {
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux})
	d.Put(make([]byte, 512<<10))
	for i := range 2000 {
		d.Entry(0x70000000+uint32(i), 0, 512<<10)
		d.MemoryAt(uint64(i)<<32, 0, 512<<10)
	}
	data := d.Bytes()
	if n := try(t, data); n > 40*int64(len(data))+8<<20 {
		t.Errorf("%d bytes of text of a file of %d", n, len(data))
	}
}

// TestControl: no byte of a dump reaches the terminal as it is.
func TestControl(t *testing.T) {
	data := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/bin/\x1b[31mred\n\x07", dumptest.CodeView(nil)).
		Stream(0x47670003, []byte("a\x1b]0;b\x07=c\u202e : \x1b[2Jvalue\r\x08\n")).
		Stream(0x47670005, []byte("K\x1bE\x9dY=\x1b[0m\n")).
		Bytes()
	got := text(t, open(t, data), dumptext.Options{All: true})
	for i, r := range got {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
			t.Fatalf("%q in %q", r, got[max(0, i-40):min(len(got), i+20)])
		}
	}
	if !strings.Contains(got, `\x1b[31mred\n`) {
		t.Errorf("the name is not quoted:\n%s", got)
	}
}

func FuzzWrite(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, data []byte) { try(t, data) })
}
