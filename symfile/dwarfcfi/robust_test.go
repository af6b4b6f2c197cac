package dwarfcfi_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// many is a section of n functions of 16 bytes from 0x1000 on, in the order of their addresses, and
// the pairs of its search table.
func many(f form, n int) (*builder, []pair) {
	b := f.build()
	var pairs []pair
	for i := range n {
		start := uint64(0x1000 + i*16)
		pairs = append(pairs, pair{start, b.fde(start, 16, []byte{0x41, 0x0e, byte(16 + i%8*8)})})
	}
	return b, pairs
}

// counted counts the bytes that are read of a file.
type counted struct {
	data []byte
	n    int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, c.data[off:])
	c.n += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func source(data []byte) (*input.Source, *counted) {
	c := &counted{data: data}
	return input.New("made.so", c, int64(len(data))), c
}

// With a search table a lookup reads what it needs of a large section; without one, it is read
// once.
func TestHeaderReadsLittle(t *testing.T) {
	b, pairs := many(amd64Form, 200000)
	src, read := source(b.b)
	hdr, hdrRead := source(amd64Form.hdr(0x3b, pairs))
	tab, err := dwarfcfi.EHFrame(src, secAddr, hdr, hdrAddr, b.config())
	if err != nil {
		t.Fatal(err)
	}
	if read.n+hdrRead.n > 64<<10 {
		t.Errorf("opening read %d bytes", read.n+hdrRead.n)
	}
	read.n, hdrRead.n = 0, 0
	for _, i := range []int{0, 77777, 199999} {
		want := "cfa = $rsp + " + []string{"16", "24", "32", "40", "48", "56", "64", "72"}[i%8]
		if got := at(t, tab, cpu.AMD64, uint64(0x1000+i*16+1)); !strings.HasPrefix(got, want) {
			t.Errorf("function %d: %s, want %s", i, got, want)
		}
	}
	if at(t, tab, cpu.AMD64, 0xfff) != "none" || at(t, tab, cpu.AMD64, 0x1000+200000*16) != "none" {
		t.Error("rules outside the functions")
	}
	if read.n+hdrRead.n > 3*4*4<<10 || len(tab.Warnings()) > 0 {
		t.Errorf("%d bytes of %d read, %v", read.n+hdrRead.n, len(b.b), tab.Warnings())
	}
	src, read = source(b.b)
	tab, _ = dwarfcfi.EHFrame(src, secAddr, nil, 0, b.config())
	for i := range 100 {
		at(t, tab, cpu.AMD64, uint64(0x1000+i*16+1))
	}
	if read.n > int64(len(b.b))*11/10 {
		t.Errorf("%d bytes read of %d", read.n, len(b.b))
	}
}

// Functions that differ in size by far are found all the same: guesses by proportion are only a
// beginning.
func TestHeaderOfUnevenFunctions(t *testing.T) {
	b := amd64Form.build()
	var pairs []pair
	at0 := uint64(0x1000)
	for i := range 60000 {
		size := uint64(16)
		switch {
		case i%977 == 0:
			size = 64 << 10
		case i > 30000 && i < 40000:
			size = 256
		}
		pairs = append(pairs, pair{at0, b.fde(at0, size, []byte{0x41, 0x0e, byte(16 + i%8*8)})})
		at0 += size + uint64(i%3)*8
	}
	src, read := source(b.b)
	hdr, hdrRead := source(amd64Form.hdr(0x3b, pairs))
	tab, err := dwarfcfi.EHFrame(src, secAddr, hdr, hdrAddr, b.config())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	read.n, hdrRead.n = 0, 0
	const lookups = 400
	for n := range lookups {
		i := rng.IntN(len(pairs))
		if n%4 == 0 {
			i = i / 977 * 977
		}
		want := "cfa = $rsp + " + []string{"16", "24", "32", "40", "48", "56", "64", "72"}[i%8]
		if got := at(t, tab, cpu.AMD64, pairs[i].start+1+uint64(n%15)); !strings.HasPrefix(got, want) {
			t.Errorf("function %d: %s, want %s", i, got, want)
		}
		if i%3 > 0 && at(t, tab, cpu.AMD64, pairs[i+1].start-1) != "none" {
			t.Errorf("rules behind function %d", i)
		}
	}
	if each := (read.n + hdrRead.n) / lookups; each > 24<<10 || len(tab.Warnings()) > 0 {
		t.Errorf("%d bytes a lookup, %v", each, tab.Warnings())
	}
}

// A search table that contradicts the section is not used, with a warning, and the answers stay
// right.
func TestHeaderThatIsOfNoUse(t *testing.T) {
	f := amd64Form
	b, pairs := many(f, 300)
	edit := func(do func(p []pair) []pair) []byte { return f.hdr(0x3b, do(append([]pair(nil), pairs...))) }
	good := edit(func(p []pair) []pair { return p })
	patch := func(at int, v ...byte) []byte {
		p := append([]byte(nil), good...)
		copy(p[at:], v)
		return p
	}
	for name, c := range map[string]struct {
		hdr     []byte
		warning string
	}{
		"sound":                 {good, ""},
		"none":                  {nil, ""},
		"absolute, 8 bytes":     {f.hdr(0x04, pairs), ""},
		"natural size":          {f.hdr(0x00, pairs), ""},
		"relative to the pair":  {f.hdr(0x1b, pairs), ""},
		"without a table":       {patch(3, 0xff), ""},
		"no pairs":              {edit(func([]pair) []pair { return nil }), ""},
		"version 2":             {patch(0, 2), "expected version 1"},
		"cut":                   {good[:100], "which fit the section"},
		"cut in the head":       {good[:3], "more bytes"},
		"of another section":    {patch(4, 0, 0, 0, 0), "the address of .eh_frame, 0x9000"},
		"numbers of any length": {patch(3, 0x31), "an encoding that can be searched"},
		"unsorted":              {edit(func(p []pair) []pair { p[100], p[200] = p[200], p[100]; p[0], p[299] = p[299], p[0]; return p }), "pairs by address"},
		"two changed places":    {edit(func(p []pair) []pair { p[150], p[151] = p[151], p[150]; return p }), "pairs by address"},
		"wrong entry":           {edit(func(p []pair) []pair { p[150].off = p[151].off; return p }), "an entry for 0x1960"},
		"entry outside":         {edit(func(p []pair) []pair { p[150].off = 1 << 20; return p }), "the address of an entry"},
		"entry inside of one":   {edit(func(p []pair) []pair { p[150].off += 4; return p }), ""},
	} {
		var hdr *input.Source
		if c.hdr != nil {
			hdr = input.FromBytes("made.so", c.hdr)
		}
		tab, err := dwarfcfi.EHFrame(input.FromBytes("made.so", b.b), secAddr, hdr, hdrAddr, b.config())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range 300 {
			want := "cfa = $rsp + " + []string{"16", "24", "32", "40", "48", "56", "64", "72"}[i%8]
			if got := at(t, tab, cpu.AMD64, uint64(0x1000+i*16+1)); !strings.HasPrefix(got, want) {
				t.Errorf("%s: function %d: %s, want %s", name, i, got, want)
			}
		}
		w := strings.Join(tab.Warnings(), "\n")
		if c.warning == "" && w != "" && !strings.Contains(name, "inside") || !strings.Contains(w, c.warning) {
			t.Errorf("%s: warnings %q, want %q", name, w, c.warning)
		}
	}
}

// Linkers put functions into the order in which they are called, and leave the entries where they
// are. Reading all rules by address must not fetch the section again and again.
func TestScattered(t *testing.T) {
	b := amd64Form.build()
	const n = 50000
	for i := range uint64(n) {
		b.fde(0x1000+i*7919%n*16, 16, []byte{0x41, 0x0e, 16})
	}
	src, read := source(b.b)
	tab, err := dwarfcfi.EHFrame(src, secAddr, nil, 0, b.config())
	if err != nil {
		t.Fatal(err)
	}
	last, rows := uint64(0), 0
	err = tab.Each(func(start, end uint64, row unwind.Row) error {
		if start != last && rows > 0 {
			t.Fatalf("0x%x after 0x%x", start, last)
		}
		last = end
		rows++
		return nil
	})
	if err != nil || rows != 2*n || len(tab.Warnings()) > 0 {
		t.Errorf("%d rows, %v, %v", rows, err, tab.Warnings())
	}
	if read.n > 3*int64(len(b.b)) {
		t.Errorf("%d bytes read of %d", read.n, len(b.b))
	}
}

// In a file without section headers the search table leads to the section, whose end is its
// terminator.
func TestUnknownSize(t *testing.T) {
	b, pairs := many(amd64Form, 30)
	hdr := input.FromBytes("made.so", amd64Form.hdr(0x3b, pairs))
	at, err := dwarfcfi.FrameAddress(hdr, hdrAddr, b.config())
	if err != nil || at != secAddr {
		t.Fatalf("0x%x, %v", at, err)
	}
	if _, err := dwarfcfi.FrameAddress(input.FromBytes("made.so", []byte{1, 0xff, 3, 0x3b}), hdrAddr, b.config()); err == nil {
		t.Error("an address out of nothing")
	}
	data := append(append([]byte(nil), b.b...), 0, 0, 0, 0, 0xff, 0x9b, 0x15, 0x01, 0x0a, 1, 2, 3, 4, 5, 6, 7)
	cfg := b.config()
	for _, terminated := range []bool{true, false} {
		cfg.Terminated = terminated
		tab, err := dwarfcfi.EHFrame(input.FromBytes("made.so", data), secAddr, nil, 0, cfg)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := tab.Each(func(uint64, uint64, unwind.Row) error { n++; return nil }); err != nil || n != 60 {
			t.Errorf("%d ranges, %v", n, err)
		}
		if w := tab.Warnings(); (len(w) == 0) != terminated {
			t.Errorf("terminated %v: %q", terminated, w)
		}
	}
}

// Bytes that are not loaded yet are an input.NeedError and not an error of the file.
type needy struct{}

func (needy) ReadAt(p []byte, off int64) (int, error) {
	return 0, &input.NeedError{Name: "made.so", Ranges: []input.Range{{Offset: off, Size: int64(len(p))}}}
}

func TestNeeds(t *testing.T) {
	_, pairs := many(amd64Form, 30)
	src := input.New("made.so", needy{}, 1000)
	var need *input.NeedError
	if _, err := dwarfcfi.EHFrame(src, secAddr, input.FromBytes("made.so", amd64Form.hdr(0x3b, pairs)), hdrAddr, amd64Form.build().config()); !errors.As(err, &need) {
		t.Errorf("opened: %v", err)
	}
	tab, err := dwarfcfi.EHFrame(src, secAddr, nil, 0, amd64Form.build().config())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tab.Row(0x1000); !errors.As(err, &need) {
		t.Errorf("a lookup: %v", err)
	}
	if err := tab.Each(func(uint64, uint64, unwind.Row) error { return nil }); !errors.As(err, &need) || len(tab.Warnings()) > 0 {
		t.Errorf("all: %v, %v", err, tab.Warnings())
	}
}

// everything calls each method of a table.
func everything(t testing.TB, tab unwind.Table) {
	for _, rva := range []uint64{0, 0x1000, 0x1001, 0x1018, 0x2000, 1 << 40, ^uint64(0)} {
		row, _, err := tab.Row(rva)
		var format *input.FormatError
		if err != nil && (!errors.As(err, &format) || format.File == "" || !strings.HasPrefix(format.Part, ".")) {
			t.Fatalf("an error without file and section: %v", err)
		}
		_ = row.Describe(cpu.AMD64)
	}
	n := 0
	stop := errors.New("enough")
	err := tab.Each(func(start, end uint64, row unwind.Row) error {
		if end <= start {
			t.Fatalf("a range from 0x%x to 0x%x", start, end)
		}
		if n++; n > 10000 {
			return stop
		}
		return nil
	})
	var format *input.FormatError
	if err != nil && err != stop && !errors.As(err, &format) {
		t.Fatal(err)
	}
	tab.Warnings()
}

// rich has all kinds of things in it.
func rich(debug bool, order binary.ByteOrder) *builder {
	f := amd64Form
	f.debug, f.order = debug, order
	if !debug {
		f.aug, f.augData, f.fdeAug, f.enc = "zPLR", []byte{0x03, 1, 2, 3, 4, 0x1b, 0x1b}, []byte{1, 2, 3, 4}, 0x1b
	}
	b := f.build()
	b.fde(0x1000, 0x20, []byte{0x41, 0x0e, 16, 0x83, 2, 0x0a, 0x44, 0x0c, 6, 16, 0x0b, 0x02, 8}, cat([]byte{0x0f, 11}, []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}))
	b.fde(0x2000, 0x10, []byte{0x10, 3, 6, 0x31, 0x28, 1, 0, 0x96, 0x96}, []byte{0x16, 6, 3, 0x77, 1, 0x06, 0x2e, 0x10})
	return b
}

// A truncated section gives the rows that are left, and a warning says where it ends.
func TestTruncated(t *testing.T) {
	for _, debug := range []bool{false, true} {
		whole := rich(debug, binary.LittleEndian)
		for n := range whole.b {
			b := *whole
			b.b = whole.b[:n]
			tab := b.open(t)
			everything(t, tab)
			if n > 40 && n%4 != 0 && len(tab.Warnings()) == 0 {
				t.Errorf("cut to %d of %d bytes: no warning", n, len(whole.b))
			}
		}
	}
}

func TestCrafted(t *testing.T) {
	const entry = "cfa = $rsp + 8, ra = [cfa − 8]"
	deep := make([]byte, 0, 400)
	for range 300 {
		deep = append(deep, 0x0a)
	}
	for name, c := range map[string]struct {
		code []byte
		want string
	}{
		"restored without being remembered": {[]byte{0x0b}, "a state that was remembered"},
		"too many remembered":               {deep, "at most 256 remembered states"},
		"an operand is missing":             {[]byte{0, 0, 0, 0, 0, 0, 0x0c, 7}, "more bytes"},
		"an expression too long":            {[]byte{0x0f, 0x7f, 0}, "an expression of 127 bytes"},
		"a number of 80 bits":               {[]byte{0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "at most 64 bits"},
		"padded numbers":                    {[]byte{0x0e, 0x88, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, entry},
		"backwards":                         {[]byte{0x01, 0, 0, 0, 0, 0, 0, 0, 0}, "an address from 0x1000 on"},
		"around the address space":          {[]byte{0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "inside the address space"},
		"an expression that loops":          {[]byte{0x0f, 3, 0x2f, 0xfd, 0xff}, "cfa = jump:0, ra = [cfa − 8]"},
		"an expression that jumps out":      {[]byte{0x0f, 3, 0x2f, 0x10, 0}, "none: made.so: .eh_frame at offset 0x"},
		"a jump into an operation":          {[]byte{0x0f, 6, 0x0a, 1, 2, 0x2f, 0xfb, 0xff}, "none: made.so: .eh_frame at offset 0x"},
		"an expression of nothing":          {[]byte{0x0f, 0}, "none: made.so: .eh_frame at offset 0x"},
		"an unknown operation":              {[]byte{0x0f, 1, 0xff}, "operation 0xff"},
	} {
		b := amd64Form.build()
		b.fde(0x1000, 0x10, c.code)
		tab := b.open(t)
		if got := at(t, tab, cpu.AMD64, 0x1000); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s %v, want %s", name, got, tab.Warnings(), c.want)
		}
		everything(t, tab)
	}
	// Heads of entries.
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"longer than the section":      {[]byte{0x40, 0, 0, 0, 0, 0, 0, 0}, "an entry inside of the section"},
		"a reserved length":            {[]byte{0xf3, 0xff, 0xff, 0xff, 0, 0, 0, 0}, "reserved"},
		"a CIE before the start":       {[]byte{8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}, "the distance back to a CIE"},
		"a CIE of version 9":           {[]byte{8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 12, 0, 0, 0, 16, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, "version 9"},
		"an FDE that points at an FDE": {[]byte{8, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4}, "another entry that is a CIE"},
		"an empty section":             {nil, ""},
		"terminators alone":            {make([]byte, 64), ""},
	} {
		b := amd64Form.build()
		b.b = c.b
		tab := b.open(t)
		if got := at(t, tab, cpu.AMD64, 0x1000); got != "none" {
			t.Errorf("%s: %s", name, got)
		}
		if w := strings.Join(tab.Warnings(), "\n"); !strings.Contains(w, c.want) || c.want == "" && w != "" {
			t.Errorf("%s: %q, want %q", name, w, c.want)
		}
	}
	if _, err := dwarfcfi.DebugFrame(input.FromBytes("x", nil), dwarfcfi.Config{}); err == nil {
		t.Error("opened without a CPU")
	}
	if _, err := dwarfcfi.DebugFrame(input.FromBytes("x", nil), dwarfcfi.Config{Arch: cpu.X86, Order: binary.LittleEndian, AddressSize: 3}); err == nil {
		t.Error("opened with addresses of 3 bytes")
	}
}

func fuzzed(t *testing.T, data []byte, debug, big, hdr bool) {
	cfg := dwarfcfi.Config{Arch: cpu.AMD64, Order: binary.LittleEndian, AddressSize: 8, File: "made.so"}
	if big {
		cfg.Arch, cfg.Order, cfg.AddressSize = cpu.X86, binary.BigEndian, 4
	}
	var tab unwind.Table
	var err error
	switch {
	case debug:
		tab, err = dwarfcfi.DebugFrame(input.FromBytes("made.so", data), cfg)
	case hdr && len(data) > 40:
		tab, err = dwarfcfi.EHFrame(input.FromBytes("made.so", data[40:]), secAddr, input.FromBytes("made.so", data[:40]), hdrAddr, cfg)
	default:
		tab, err = dwarfcfi.EHFrame(input.FromBytes("made.so", data), secAddr, nil, 0, cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	everything(t, tab)
}

func FuzzEHFrame(f *testing.F) {
	f.Add(rich(false, binary.LittleEndian).b, false, false)
	f.Add(rich(false, binary.BigEndian).b, true, false)
	b, pairs := many(amd64Form, 3)
	f.Add(cat(append(amd64Form.hdr(0x3b, pairs), make([]byte, 8)...)[:40], b.b), false, true)
	f.Fuzz(func(t *testing.T, data []byte, big, hdr bool) { fuzzed(t, data, false, big, hdr) })
}

func FuzzDebugFrame(f *testing.F) {
	f.Add(rich(true, binary.LittleEndian).b, false)
	f.Add(rich(true, binary.BigEndian).b, true)
	f.Fuzz(func(t *testing.T, data []byte, big bool) { fuzzed(t, data, true, big, false) })
}

// FuzzExpression: whatever an expression is, the rule that it becomes can be evaluated, and
// evaluation ends.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})
	f.Add([]byte{0x30, 0x35, 0x12, 0x17, 0x22, 0x16, 0x31, 0x1c, 0x12, 0x28, 0xf7, 0xff, 0x13})
	f.Fuzz(func(t *testing.T, code []byte) {
		b := amd64Form.build()
		b.fde(0x1000, 0x10, []byte{0x0f}, uleb(uint64(len(code))), code, []byte{0x10, 3}, uleb(uint64(len(code))), code)
		row, ok, err := b.open(t).Row(0x1000)
		if err != nil || !ok {
			return
		}
		_ = row.Describe(cpu.AMD64)
		regs := cpu.Regs{Arch: cpu.AMD64}
		for i := range cpu.AMD64.Names {
			regs.Set(cpu.Reg(i), uint64(i)*0x1000)
		}
		row.Apply(&regs, everywhere{}, &unwind.Trace{})
	})
}

type everywhere struct{}

func (everywhere) Word(addr uint64, size int) (uint64, bool) { return addr * 3, true }
