package report

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker"
)

// framed are the messages that runtimes have in the frames of functions that end the program, or where
// the registers of these lead to. The youngest frame of each row counts; its caller is known.
var framed = []struct {
	names, source string
	read          func(b *builder, frames []walker.Frame, i int) []string
}{
	{"std::panicking::panic_with_hook std::panicking::rust_panic_with_hook*", "Rust panic", (*builder).rustPanic},
	{"runtime.gopanic", "Go panic", (*builder).goPanics},
	{"V8_Fatal", "V8", (*builder).failureMessage},
	{"v8::internal::V8::FatalProcessOutOfMemory*", "JavaScript stack", (*builder).stackOfJavaScript},
	{"v8::internal::V8::FatalProcessOutOfMemory*", "V8's garbage collector", (*builder).lastCollections},
	{"node::Assert", "check of Node", (*builder).nodeCheck},
}

// inFrames reads the messages of framed. Guessed frames have none.
func (b *builder) inFrames(frames []walker.Frame, say func(source, text string)) {
	found := map[int]bool{}
	for i := 0; i+1 < len(frames) && i < maxEnders; i++ {
		f := &frames[i]
		if scannedFrame(f) {
			return
		}
		if f.Symbol.Name == "" {
			continue
		}
		whole, short := spelled(f.Symbol.Name)
		for k := range framed {
			if !found[k] && matches(framed[k].names, whole, short) {
				found[k] = true
				for _, text := range framed[k].read(b, frames, i) {
					say(framed[k].source, text)
				}
			}
		}
	}
}

// maxFramed is how many words of a frame are searched at most. V8's has two buffers of a few kilobytes.
const maxFramed = 8192

// words returns the words of a frame, and where they begin.
func (b *builder) words(frames []walker.Frame, i int) (at uint64, words []uint64) {
	at, size := frames[i].Regs.SP(), uint64(b.r.Dump.WordSize)
	for p := at; p < frames[i+1].Regs.SP() && len(words) < maxFramed; p += size {
		w, ok := b.d.Memory.Word(p, int(size))
		if !ok {
			break
		}
		words = append(words, w)
	}
	return at, words
}

// goPanics returns the values of Go's panics, the last one first, as the runtime prints them. gopanic has
// a record in its frame, which begins so since Go 1.22 (runtime/runtime2.go, _panic):
//
//	arg: type, data · link: the panic before · startPC, startSP: where gopanic called what made the record
//
// The runtime has made texts of errors and of what has a method String before it ends the program.
func (b *builder) goPanics(frames []walker.Frame, i int) (texts []string) {
	f, size := &frames[i], uint64(b.r.Dump.WordSize)
	at, words := b.words(frames, i)
	start, begins := -1, f.Lookup-(f.RVA-f.Symbol.Start)
	for k := 3; k+1 < len(words); k++ {
		if words[k] > begins && words[k] <= f.PC && words[k+1] == f.Regs.SP() {
			start = k - 3
			break
		}
	}
	if start < 0 {
		return nil
	}
	for p, n := at+uint64(start)*size, 0; p != 0 && n < maxMessages; n++ {
		kind, ok := b.d.Memory.Word(p, int(size))
		data, has := b.d.Memory.Word(p+size, int(size))
		link, linked := b.d.Memory.Word(p+2*size, int(size))
		if !ok || !has || !linked {
			break
		}
		if text := b.goValue(kind, data); text != "" {
			texts = append(texts, text)
		}
		if link <= p { // it is of an older frame
			break
		}
		p = link
	}
	return texts
}

// Kinds of Go's types (internal/abi/type.go).
const (
	goBool, goInt, goInt8, goInt16, goInt32, goInt64         = 1, 2, 3, 4, 5, 6
	goUint, goUint8, goUint16, goUint32, goUint64, goUintptr = 7, 8, 9, 10, 11, 12
	goFloat32, goFloat64, goString, goKinds                  = 13, 14, 24, 1<<5 - 1
)

// goValue returns a value of an interface as Go prints it in a panic, or "". A type begins so
// (internal/abi/type.go, Type), in bytes for words of 8:
//
//	0 size · 8 bytes with pointers · 16 hash u32 · 20 flags u8, 23 kind u8 · 24 equal · 32 gc data · 40 name i32
func (b *builder) goValue(kind, data uint64) string {
	size := uint64(b.r.Dump.WordSize)
	var head [52]byte
	if m := b.moduleAt(kind); m < 0 || b.constant(kind, head[:4*size+12]) < int(4*size+12) {
		return ""
	}
	order := b.d.Header.Order
	name, basic := b.goTypeName(kind, int32(order.Uint32(head[4*size+8:])), head[2*size+4])
	number := func(n int) (uint64, bool) {
		var p [8]byte
		if b.constant(data, p[:n]) < n {
			return 0, false
		}
		switch n {
		case 1:
			return uint64(p[0]), true
		case 2:
			return uint64(order.Uint16(p[:])), true
		case 4:
			return uint64(order.Uint32(p[:])), true
		}
		return order.Uint64(p[:]), true
	}
	value, ok := "", true
	signed := func(n int) {
		v, has := number(n)
		shift := 64 - 8*n
		value, ok = strconv.FormatInt(int64(v<<shift)>>shift, 10), has
	}
	unsigned := func(n int) {
		v, has := number(n)
		value, ok = strconv.FormatUint(v, 10), has
	}
	switch head[2*size+7] & goKinds {
	case goBool:
		v, has := number(1)
		value, ok = strconv.FormatBool(v != 0), has
	case goInt:
		signed(int(size))
	case goInt8, goInt16, goInt32, goInt64:
		signed(1 << (head[2*size+7]&goKinds - goInt8))
	case goUint, goUintptr:
		unsigned(int(size))
	case goUint8, goUint16, goUint32, goUint64:
		unsigned(1 << (head[2*size+7]&goKinds - goUint8))
	case goFloat32:
		v, has := number(4)
		value, ok = strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32), has
	case goFloat64:
		v, has := number(8)
		value, ok = strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64), has
	case goString:
		at, has := number(int(size))
		data += size
		n, known := number(int(size))
		if value, ok = b.sized(at, n), has && known; !basic && value != "" {
			value = strconv.Quote(value)
		}
	default:
		if name == "" {
			return ""
		}
		return "a value of the type " + name
	}
	switch {
	case !ok || value == "":
		return ""
	case !basic && name != "":
		return name + "(" + value + ")"
	}
	return value
}

// goTypeName returns the name of a type of Go, or "" without the symbol of where names are counted from
// (runtime/type.go, resolveNameOff). basic: it is that of a type of the language, or not known.
//
//	u8 flags · length, 7 bits in a byte, the lowest first · the name
func (b *builder) goTypeName(kind uint64, off int32, flags byte) (name string, basic bool) {
	const extraStar = 1 << 1
	m := b.moduleAt(kind)
	if b.in.Program == nil || m < 0 {
		return "", true
	}
	types := b.in.Program.Variables(m, "runtime.types")["runtime.types"]
	var p [3]byte
	if types == 0 || off <= 0 || b.constant(types+uint64(off), p[:]) < len(p) {
		return "", true
	}
	n, at := uint64(p[1]), types+uint64(off)+2
	if p[1] >= 1<<7 {
		n, at = uint64(p[1]&(1<<7-1))|uint64(p[2])<<7, at+1
	}
	name = b.sized(at, n)
	if flags&extraStar != 0 {
		name = strings.TrimPrefix(name, "*")
	}
	return name, !strings.Contains(name, ".")
}

// failureMessage returns the text that V8 keeps on the stack where a check of it failed (V8's
// base/logging.cc, FailureMessage), between two words that mark it.
func (b *builder) failureMessage(frames []walker.Frame, i int) []string {
	const begins, ends, size = 0xdecade10, 0xdecade11, 512
	at, words := b.words(frames, i)
	word := b.r.Dump.WordSize
	for k, w := range words {
		if end := k + 1 + size/word; w == begins && end < len(words) && words[end] == ends {
			return []string{b.text(at+uint64((k+1)*word), size)}
		}
	}
	return nil
}

// stackOfJavaScript returns the stack of JavaScript where V8 ran out of memory.
func (b *builder) stackOfJavaScript(frames []walker.Frame, i int) []string {
	return b.heapStats(frames, i, 1)
}

// lastCollections returns what V8's garbage collector did last, before V8 ran out of memory.
func (b *builder) lastCollections(frames []walker.Frame, i int) []string {
	return b.heapStats(frames, i, 2)
}

// heapStats returns one of the texts that V8 keeps on the stack where it ran out of memory, by how many
// words before the last it is (V8's api.cc, V8::FatalProcessOutOfMemory, and heap.h, HeapStats):
//
//	address of the first mark · … · addresses of collections and of JavaScript's stack · address of the last mark
func (b *builder) heapStats(frames []walker.Frame, i, before int) []string {
	const begins, ends, most = 0xdecade00, 0xdecade01, 64
	at, words := b.words(frames, i)
	size := uint64(b.r.Dump.WordSize)
	points := func(p uint64, mark uint32) bool { // to a mark in the frame, an int with its sign
		k := (p - at) / size
		return p >= at && k < uint64(len(words)) && (p-at)%size == 0 && uint32(words[k]) == mark
	}
	for k := range words {
		if !points(words[k], begins) {
			continue
		}
		for n := k + 3; n < min(k+most, len(words)); n++ {
			if p, end := words[n-before], at+size*uint64(len(words)); points(words[n], ends) && p >= at && p < end {
				return []string{b.text(p, end-p)}
			}
		}
	}
	return nil
}

// isSourceLine reports whether a text is a file's name with a line: "../src/node_file.cc:1055".
func isSourceLine(text string) bool {
	file, line, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(line, 10, 32)
	return err == nil && n > 0 && path.Ext(file) != "" && !strings.ContainsAny(file, " \t\n")
}

// nodeCheck returns the check of Node that failed. A register of the frame has the address of a constant
// of three texts (Node's util.h, AssertionInfo):
//
//	file and line · what was checked · function
func (b *builder) nodeCheck(frames []walker.Frame, i int) []string {
	size := uint64(b.r.Dump.WordSize)
	for _, r := range frames[i].Regs.Arch.Shown() {
		v, ok := frames[i].Regs.Get(r)
		if m := b.moduleAt(v); !ok || m < 0 {
			continue
		}
		var texts [3]string
		for k := range texts {
			if at, ok := b.pointer(v + uint64(k)*size); ok && b.moduleAt(at) == b.moduleAt(v) {
				texts[k] = b.text(at, maxMessageText)
			}
		}
		if isSourceLine(texts[0]) && texts[1] != "" && texts[2] != "" {
			return []string{fmt.Sprintf("%s in %s, %s", texts[1], texts[2], texts[0])}
		}
	}
	return nil
}

// moduleAt returns the module that an address is in, or -1.
func (b *builder) moduleAt(addr uint64) int {
	m, _ := b.r.ModuleMap.Find(addr)
	return m
}

// constant reads memory, or what the program's file has there.
func (b *builder) constant(addr uint64, p []byte) int {
	n := b.d.Code(addr, p)
	if n < len(p) && b.in.Program != nil {
		n = b.in.Program.Initial(addr, p)
	}
	return n
}

// rustPanic returns the text of a Rust panic. The function of std that calls the panic's hook has a
// reference to the payload in two registers: a table of functions, whose names show the payload's type,
// and the address of the payload, which is in its caller's frame (library/std/src/panicking.rs). Rust
// does not promise the layout of the payloads; what does not fit is left out.
//
//	FormatStringPayload                    String {capacity, address, length} · the arguments
//	StaticStrPayload, Payload<&str>        address · length
func (b *builder) rustPanic(frames []walker.Frame, i int) []string {
	f := &frames[i]
	if f.Regs.Arch.WordSize != 8 || i+2 >= len(frames) {
		return nil
	}
	at, kind, several := uint64(0), "", false
	for _, r := range f.Regs.Arch.Shown() {
		v, ok := f.Regs.Get(r)
		if k := b.payloadOf(v); ok && k != "" {
			kind = k
		}
		if ok && r != f.Regs.Arch.SP && v >= frames[i+1].Regs.SP() && v < frames[i+2].Regs.SP() {
			several = several || at != 0 && at != v
			at = v
		}
	}
	if kind == "" || several {
		return nil
	}
	var w [3]uint64
	for k := range w {
		w[k], _ = b.d.Memory.Word(at+8*uint64(k), 8)
	}
	if kind != formatted {
		return []string{b.sized(w[0], w[1])}
	}
	if w[0] > 1<<62 || w[2] > w[0] {
		return nil // there is no String yet
	}
	return []string{b.sized(w[1], w[2])}
}
