package symfile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// uneven is the text of a symbol file whose functions are as different in length as those of real programs, most short and a few very
// long, so that an address says little about where its records stand.
func uneven(n int, from uint64) (text []byte, addresses []uint64) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var b, funcs, publics, rules bytes.Buffer
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 uneven\n")
	for i := range n / 16 {
		fmt.Fprintf(&b, "FILE %d /build/%d/file_%d.cc\n", i, i%17, i)
	}
	for i := range n * 2 {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d std::%0*d()\n", i, 1+rng.IntN(90), i)
	}
	at := from
	for i := range n {
		lines := 1 + int(rng.ExpFloat64()*rng.ExpFloat64()*12)
		size := uint64(lines * 8)
		fmt.Fprintf(&funcs, "FUNC %x %x 0 function_%0*d\n", at, size, 1+rng.IntN(60), i)
		for l := range lines {
			fmt.Fprintf(&funcs, "%x 8 %d %d\n", at+uint64(l*8), l, i%max(1, n/16))
		}
		fmt.Fprintf(&rules, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", at, size)
		for d := range min(lines, 1+rng.IntN(12)) {
			fmt.Fprintf(&rules, "STACK CFI %x .cfa: $rsp %d +\n", at+uint64(d), 16+8*d)
		}
		if i%1000 == 0 {
			fmt.Fprintf(&publics, "PUBLIC %x 0 exported_%d\n", at+size, i)
		}
		addresses = append(addresses, at+size/2)
		at += size + uint64(rng.IntN(16))
	}
	for _, more := range []*bytes.Buffer{&funcs, &publics, &rules} {
		b.Write(more.Bytes())
	}
	return b.Bytes(), addresses
}

// TestSurveyGuesses: where the sections of a file begin is found in a few rounds, since each takes as long as many places.
func TestSurveyGuesses(t *testing.T) {
	for _, from := range []uint64{0x1000, 0x200000, 0x2000000} {
		text, _ := uneven(30_000, from)
		r := &manyReader{Reader: bytes.NewReader(text)}
		f, err := openSparse(input.New("m.sym", r, int64(len(text))), Options{Slice: 256, stretch: 16})
		if err != nil {
			t.Fatal(err)
		}
		if r.many > 1 || r.places > 34 || r.single > 0 {
			t.Errorf("functions from %#x: the file was opened by %d reads of %d places and %d of one, not by 1", from, r.many, r.places, r.single)
		}
		if err := f.sparse.findBorders(); err != nil {
			t.Fatal(err)
		}
		if r.many > 5 || r.places > 90 || r.single > 1 {
			t.Errorf("functions from %#x: the sections were found by %d reads of %d places and %d of one, not by 5", from, r.many, r.places, r.single)
		}
		for ph, want := range map[phase]string{phaseFiles: "FILE 0", phaseOrigins: "INLINE_ORIGIN 0", phaseBody: "FUNC ", phaseCFI: "STACK CFI INIT "} {
			first := int64(bytes.Index(text, []byte("\n"+want)) + 1)
			if got := f.sparse.sections[ph][0]; got != first/f.sparse.step || !f.sparse.present[ph] {
				t.Errorf("section %d begins in slice %d, not %d", ph, got, first/f.sparse.step)
			}
		}
		if f.sparse.present[phaseWin] || f.sparse.present[phaseWinNext] {
			t.Error("a file without STACK WIN records has some")
		}
	}
}

// TestPrepareGuesses: a lookup whose first guess was wrong goes on from what that showed, and finds its record by the second one. Only for
// addresses near the borders of sections are these looked for. Each file's opening is one of the reads, of 34 places.
func TestPrepareGuesses(t *testing.T) {
	text, all := uneven(30_000, 0x1000)
	every := func(n int, of []uint64) (some []uint64) {
		for i := 0; i < len(of); i += len(of) / n {
			some = append(some, of[i])
		}
		return some
	}
	inner := all[1000:29000]
	var publics bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&publics, "PUBLIC %x 0 behind_all_functions_%d\n", 1<<32+i*16, i)
	}
	at := bytes.Index(text, []byte("STACK CFI INIT "))
	exporting := append(append(append([]byte{}, text[:at]...), publics.Bytes()...), text[at:]...)
	for _, c := range []struct {
		what            string
		rules, funcs    []uint64
		rounds, largest int
	}{
		{"PUBLICs behind all functions", nil, []uint64{1<<32 + 8, 1<<32 + 1500*16, 1<<32 + 2999*16}, 7, 318},
		{"PUBLICs right behind the last functions", nil, every(40, all[29_400:]), 4, 82},
		{"60 rules", every(60, inner), nil, 4, 151},
		{"60 functions", nil, every(60, inner), 4, 133},
		{"60 rules, the first and the last among them", append(every(60, inner), all[0], all[len(all)-1]), nil, 4, 154},
		{"60 functions, the first and the last among them", nil, append(every(60, inner), all[0], all[len(all)-1]), 7, 156},
		{"addresses of no function", nil, []uint64{0x10, 1 << 40}, 5, 65},
		{"1000 rules", every(1000, inner), nil, 15, 895},
		{"1000 functions", nil, every(1000, inner), 15, 1110},
	} {
		text := text
		if strings.HasPrefix(c.what, "PUBLIC") {
			text = exporting
		}
		plain, keeps := &manyReader{Reader: bytes.NewReader(text)}, &lateReader{manyReader: manyReader{Reader: bytes.NewReader(text)}}
		for _, by := range []struct {
			input.ManyReader
			counts *manyReader
		}{{plain, plain}, {keeps, &keeps.manyReader}} {
			f, r := boundedBy(t, by.ManyReader, text), by.counts
			f.Prepare(c.rules, c.funcs).All()
			for _, x := range c.rules {
				f.CFI(x)
			}
			for _, x := range c.funcs {
				f.Lookup(x)
			}
			t.Log(c.what, r.many, r.places, r.single)
			if r.many > c.rounds || r.places > c.largest || r.single > 0 {
				t.Errorf("%s took %d reads of %d places and %d of one, not %d of %d and none", c.what, r.many, r.places, r.single, c.rounds, c.largest)
			}
		}
	}
}

// TestPrepareStations: from a power of ten on, the names of inlined calls are longer, and are still found by the first guess.
func TestPrepareStations(t *testing.T) {
	const origins, funcs, lines = 40_000, 3_000, 130
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 longer\n")
	for i := range 50 {
		fmt.Fprintf(&b, "FILE %d /build/file_%02d.cc\n", i, i)
	}
	for i := range origins {
		long := ""
		if i >= 10_000 {
			long = "_10k"
		}
		fmt.Fprintf(&b, "INLINE_ORIGIN %d inlined_%05d%s()\n", i, i, long)
	}
	rva := func(i int) int { return 0x100000 + i*lines*8 }
	for i := range funcs {
		fmt.Fprintf(&b, "FUNC %x %x 0 function_%04d\nINLINE 0 1 %d %05d %x %x\n", rva(i), lines*8, i, i%50, i*7%origins, rva(i), lines*8)
		for l := range lines {
			fmt.Fprintf(&b, "%x 8 %04d 1\n", rva(i)+l*8, l)
		}
	}
	for i := range funcs {
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", rva(i), lines*8)
	}
	f, r := boundedOf(t, b.Bytes())
	var wanted []uint64
	for i := 300; i < funcs-300; i += 50 {
		wanted = append(wanted, uint64(rva(i)+lines*4))
	}
	f.Prepare(wanted, nil).All() // as for a walk, whose rules come first
	p := f.Prepare(nil, wanted)
	for p.step(1) && !p.gathered {
	}
	before := r.many
	p.All()
	reads, places := r.many-before, r.places
	for i := 300; i < funcs-300; i += 50 {
		s, answer, err := f.Lookup(uint64(rva(i) + lines*4))
		if err != nil || answer != symbol.Yes || len(s.Inlines) != 1 || !strings.HasPrefix(s.Inlines[0].Name, fmt.Sprintf("inlined_%05d", i*7%origins)) {
			t.Fatalf("function %d: %v, %v, %v", i, s, answer, err)
		}
	}
	if reads != 1 || r.places > places || r.single > 0 {
		t.Errorf("names took %d reads, then %d more places and %d single ones", reads, r.places-places, r.single)
	}
}

// TestPrepareLopsided: where functions with much text and with little take turns, guesses by proportion miss to one side again and again. What lies
// beyond them is read with them: without that, it is 11 reads of 167 places.
func TestPrepareLopsided(t *testing.T) {
	const n, asked = 60_000, 60
	rng := rand.New(rand.NewPCG(1, 4))
	var text bytes.Buffer
	text.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 lopsided\nFILE 0 a.cc\n")
	var wanted []uint64
	at, lines := uint64(0x1000), 0.0
	for i := range n {
		if i%(n/40) == 0 {
			lines = math.Exp(1.5 * rng.NormFloat64())
		}
		size := uint64(16 + rng.IntN(200))
		fmt.Fprintf(&text, "FUNC %x %x 0 function_%d\n", at, size, i)
		for l := range min(uint64(lines), size) {
			fmt.Fprintf(&text, "%x 1 %d 0\n", at+l, l)
		}
		if i%(n/asked) == n/asked/2 {
			wanted = append(wanted, at)
		}
		at += size
	}
	r := &manyReader{Reader: bytes.NewReader(text.Bytes())}
	f, err := openSparse(input.New("m.sym", r, int64(text.Len())), Options{Slice: 256, stretch: 16})
	if err != nil {
		t.Fatal(err)
	}
	f.Prepare(nil, wanted).All()
	reads, places := r.many, r.places
	t.Log(reads, places)
	for _, x := range wanted {
		f.Lookup(x)
	}
	if reads > 7 || places > 164 || r.places > places || r.single > 0 {
		t.Errorf("%d functions took %d reads of %d places, then %d more", len(wanted), reads, places, r.places-places+r.single)
	}
}
