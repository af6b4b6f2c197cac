package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
)

// Program has what the modules' files say about the process' memory.
type Program interface {
	// Variables returns the addresses of those variables that a module's file names.
	Variables(module int, names ...string) map[string]uint64
	// Initial reads the bytes that the program's file has for an address, and returns how many there
	// are: what they are in memory, unless the program has written to them.
	Initial(addr uint64, p []byte) int
	// Pointer returns the word that the loader writes at an address.
	Pointer(addr uint64) (uint64, bool)
}

// fromMemory reads the messages that runtimes keep in the process' memory when they end it. Each is
// found by a variable's address, by the exception's record or in the frame of a function and by its
// registers, and nothing else is searched for.
func (b *builder) fromMemory(say func(source, text string)) {
	if b.r.Crash == nil || b.r.Crash.Requested || b.d.Memory == nil {
		return
	}
	b.variables(say)
	b.thrown(say)
	if t := b.r.Crash.Thread; t >= 0 && t < len(b.in.Stacks) && b.r.Crash.Ended > 0 {
		b.inFrames(b.in.Stacks[t].Frames, say)
	}
}

// variables reads those messages that are in variables of their own.
func (b *builder) variables(say func(source, text string)) {
	if b.in.Program == nil {
		return
	}
	for m := range b.r.Modules {
		name := b.r.Modules[m].Title()
		switch {
		case strings.HasPrefix(name, "libc.so") || strings.HasPrefix(name, "libc-2."):
			at, ok := b.pointer(b.in.Program.Variables(m, "__abort_msg")["__abort_msg"])
			if !ok || at == 0 {
				continue
			}
			// glibc's assert/assert.c, struct abort_msg_s: unsigned int size, of all of it; char msg[].
			if size, ok := b.d.Memory.Word(at, 4); ok && size > 4 {
				say("memory of "+name, b.text(at+4, size-4))
			}
		case strings.HasPrefix(name, "libjvm.") || name == "jvm.dll":
			// HotSpot's utilities/vmError.cpp: why it ends, and of an error that it found itself the details.
			const message, detail = "_ZN7VMError8_messageE", "_ZN7VMError11_detail_msgE"
			vars := b.in.Program.Variables(m, message, detail)
			at, _ := b.pointer(vars[message])
			if text := b.text(at, maxMessageText); text != "" {
				say("memory of "+name, strings.TrimSuffix(text+": "+b.text(vars[detail], 1024), ": "))
			}
		case m == b.r.MainModule && b.d.OS() != core.Windows && b.runsGo():
			// Go's runtime/print.go: a ring of what it printed, and where the next byte goes.
			vars := b.in.Program.Variables(m, "runtime.printBacklog", "runtime.printBacklogIndex")
			ring := make([]byte, 512)
			index, ok := b.pointer(vars["runtime.printBacklogIndex"])
			if ring := ring[:b.d.Memory.Read(vars["runtime.printBacklog"], ring)]; ok && len(ring) == cap(ring) && index < uint64(len(ring)) {
				ring = bytes.Trim(append(ring[index:len(ring):len(ring)], ring[:index]...), "\x00")
				say("memory of Go's runtime", strings.ToValidUTF8(string(ring), "\uFFFD"))
			}
		}
	}
}

// runsGo reports whether the crashed thread has a frame of Go's runtime. To look for variables in a large
// program that is not Go's would read its whole symbol table.
func (b *builder) runsGo() bool {
	t := b.r.Crash.Thread
	return t >= 0 && t < len(b.in.Stacks) && slices.ContainsFunc(b.in.Stacks[t].Frames, func(f walker.Frame) bool { return strings.HasPrefix(f.Symbol.Name, "runtime.") })
}

// text returns the text at an address up to its zero byte, which is at most size bytes away; "" without
// text. It is cut to maxMessageText.
func (b *builder) text(addr, size uint64) string {
	p := make([]byte, min(size, maxMessageText+1))
	p = p[:b.d.Code(addr, p)]
	if s, _, ended := bytes.Cut(p, []byte{0}); ended || len(p) > maxMessageText {
		return strings.ToValidUTF8(string(s), "\uFFFD")
	}
	return ""
}

// initial returns the text of a variable that no program writes to, although it may.
func (b *builder) initial(addr uint64) string {
	if s := b.text(addr, 1000); s != "" || b.in.Program == nil {
		return s
	}
	p := make([]byte, 1000)
	s, _, ended := bytes.Cut(p[:b.in.Program.Initial(addr, p)], []byte{0})
	if !ended {
		return ""
	}
	return string(s)
}

// pointer returns the word at an address, of the process' word size.
func (b *builder) pointer(addr uint64) (uint64, bool) {
	if addr == 0 {
		return 0, false
	}
	v, ok := b.d.Memory.Word(addr, b.r.Dump.WordSize)
	if !ok && b.in.Program != nil {
		v, ok = b.in.Program.Pointer(addr)
	}
	return v, ok
}

const formatted = "FormatStringPayload"

// payloadOf returns the type of a panic's payload by the address of its table of functions, or "":
//
//	drop · size · alignment · the first function of its trait
func (b *builder) payloadOf(table uint64) string {
	if b.in.Lookup == nil || b.moduleAt(table) < 0 {
		return ""
	}
	function, ok := b.pointer(table + 24)
	m, rva := b.r.ModuleMap.Find(function)
	if !ok || m < 0 {
		return ""
	}
	s, answer := b.in.Lookup(m, rva)
	if answer != symbol.Yes || s.Start != rva {
		return ""
	}
	of, _, _ := strings.Cut(demangle.Name(s.Name), " as ")
	for _, kind := range []string{formatted, "StaticStrPayload", "Payload<&str>"} {
		if strings.HasPrefix(of, "<std::panicking::") && strings.HasSuffix(of, "::"+kind) {
			return kind
		}
	}
	return ""
}

// thrown tells the type of an exception of C++ that nothing caught, and its text.
func (b *builder) thrown(say func(source, text string)) {
	const visualC, gcc = 0xe06d7363, 0x20474343
	var what *object
	switch e := b.d.Exception; {
	case b.d.OS() == core.Windows && e.Code == visualC:
		what = b.visualC(e.Params)
	case b.d.OS() == core.Windows && e.Code == gcc && len(e.Params) > 0:
		what = b.unwinding(e.Params[0])
	case b.r.Crash.Thread >= 0 && b.r.Crash.Thread < len(b.in.Stacks) && b.r.Crash.Ended > 0:
		what = b.raised(b.in.Stacks[b.r.Crash.Thread].Frames)
	}
	if what == nil {
		return
	}
	b.r.Crash.Thrown = Name{Raw: what.name}
	if what.text != "" {
		say("C++ exception", what.text)
	}
}

// object is a thrown object: the name of its type's name, as compilers have it, and its text or value.
type object struct{ name, text string }

// raised returns the exception that the function which throws was called with, by the registers of its
// frame: they have the address of the exception's header, of the object or of what is between them,
// which the class of the exception proves.
func (b *builder) raised(frames []walker.Frame) *object {
	word := uint64(b.r.Dump.WordSize)
	for i := range frames[:min(len(frames), maxEnders)] {
		f := &frames[i]
		if scannedFrame(f) {
			return nil
		}
		if n := f.Symbol.Name; n != "__cxa_throw" && n != "__cxa_rethrow" {
			continue
		}
		for _, r := range f.Regs.Arch.Shown() {
			v, ok := f.Regs.Get(r)
			if !ok || v < 1<<12 {
				continue
			}
			// The header of libstdc++ begins with a count, padded to 16 bytes, before the fields.
			for _, at := range []uint64{v, v - 4*word, v + 10*word, v + 12*word} {
				if o := b.unwinding(at); o != nil {
					return o
				}
			}
		}
		return nil
	}
	return nil
}

// unwinding reads a C++ exception by the address of its _Unwind_Exception, which begins with the class of
// exceptions of the language (Itanium C++ ABI, Exception Handling, 2.2). On 64-bit processors:
//
//	at -80  std::type_info* exceptionType, and 8 more fields
//	at 0    u64 class: "GNUCC++" or "CLNGC++" with a zero byte, the last byte first in memory
//	at 32   the object; at 64 on Windows, whose unwinder has more fields
func (b *builder) unwinding(at uint64) *object {
	class, ok := b.d.Memory.Word(at, 8)
	if !ok || class != 0x474e5543432b2b00 && class != 0x434c4e47432b2b00 || b.r.Dump.WordSize != 8 {
		return nil
	}
	info, ok := b.d.Memory.Word(at-80, 8)
	if !ok {
		return nil
	}
	obj := at + 32
	if b.d.OS() == core.Windows {
		obj = at + 64
	}
	linked := b.typeName(info)
	if linked == "" {
		return nil
	}
	return &object{"_ZTS" + linked, b.valueOf(obj, linked, b.isStandard(info))}
}

// typeName returns the name of a std::type_info as the compiler wrote it: "St13runtime_error".
//
//	virtual table · char const* name; a name that begins with "*" is only of its own file
func (b *builder) typeName(info uint64) string {
	name, ok := b.pointer(info + 8)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(b.text(name, 1000), "*")
}

// isStandard reports whether a class is derived, by classes with one base each, from one of those of the
// standard library that have a text: std::runtime_error and std::logic_error. The table of virtual
// functions of a type_info shows that it is that of such a class.
func (b *builder) isStandard(info uint64) bool {
	const single = "_ZTVN10__cxxabiv120__si_class_type_infoE"
	for range 16 {
		if name := b.typeName(info); name == "St13runtime_error" || name == "St11logic_error" {
			return true
		}
		table, ok := b.pointer(info)
		m := b.moduleAt(table)
		if !ok || m < 0 || b.in.Program == nil {
			return false
		}
		if at := b.in.Program.Variables(m, single)[single]; at == 0 || at+16 != table {
			return false
		}
		if info, ok = b.pointer(info + 16); !ok {
			return false
		}
	}
	return false
}

// valueOf returns the text of an object, if its class has one, or its value.
func (b *builder) valueOf(obj uint64, linked string, standard bool) string {
	switch linked {
	case "PKc", "Pc":
		at, _ := b.pointer(obj)
		return b.text(at, maxMessageText)
	case "i":
		if v, ok := b.d.Memory.Word(obj, 4); ok {
			return fmt.Sprint(int32(v))
		}
	case "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE":
		at, ok := b.pointer(obj) // libstdc++: a pointer, and the length
		if n, has := b.pointer(obj + 8); ok && has {
			return b.sized(at, n)
		}
	}
	if standard { // libstdc++ and libc++: a pointer to the text, with its count before it
		at, _ := b.pointer(obj + 8)
		return b.text(at, maxMessageText)
	}
	return ""
}

// sized returns a text by its length in bytes, "" if it is not UTF-8. It is cut to a little more than maxMessageText.
func (b *builder) sized(addr, n uint64) string {
	const most = maxMessageText + utf8.UTFMax
	p := make([]byte, min(n, most))
	if b.d.Code(addr, p) < len(p) {
		return ""
	}
	for cut := 1; n > most && cut < utf8.UTFMax && !utf8.Valid(p); cut++ {
		p = p[:len(p)-1] // the beginning of a character
	}
	if !utf8.Valid(p) {
		return ""
	}
	return string(p)
}

// visualC reads an exception of Microsoft's C++ by its record: a number, the object, its ThrowInfo, and on
// 64-bit processors the address that the numbers in that are relative to (ehdata.h of the CRT):
//
//	ThrowInfo            u32 attributes · destructor · compatibility · CatchableTypeArray
//	CatchableTypeArray   i32 count · CatchableType, from the class to its bases
//	CatchableType        u32 properties · TypeDescriptor · i32 offset of the base in the object, …
//	TypeDescriptor       virtual table · spare · char name[]: ".?AVruntime_error@std@@"
func (b *builder) visualC(params []uint64) *object {
	if len(params) < 3 || params[2] == 0 || b.r.Dump.WordSize == 8 && len(params) < 4 {
		return nil
	}
	base := uint64(0)
	if b.r.Dump.WordSize == 8 {
		base = params[3]
	}
	field := func(at uint64, n uint64) (uint64, bool) {
		var p [4]byte
		if b.d.Code(at+4*n, p[:]) < len(p) {
			return 0, false
		}
		return uint64(binary.LittleEndian.Uint32(p[:])), true
	}
	list, ok := field(params[2], 3)
	count, has := field(base+list, 0)
	if !ok || !has {
		return nil
	}
	var o *object
	for i := range min(count, 16) {
		class, ok := field(base+list, 1+i)
		descriptor, has := field(base+class, 1)
		offset, known := field(base+class, 2)
		if !ok || !has || !known {
			return o
		}
		linked := b.initial(base + descriptor + 2*uint64(b.r.Dump.WordSize))
		if o == nil {
			if linked == "" {
				return nil
			}
			o = &object{name: "??_R0" + strings.TrimPrefix(linked, ".") + "@8"}
			if at, ok := b.pointer(params[1]); ok && (linked == ".PEBD" || linked == ".PBD" || linked == ".PEAD" || linked == ".PAD") {
				o.text = b.text(at, maxMessageText)
			}
		}
		if linked == ".?AVexception@std@@" { // std::exception: virtual table, char const* what
			at, _ := b.pointer(params[1] + offset + uint64(b.r.Dump.WordSize))
			o.text = b.text(at, maxMessageText)
		}
	}
	return o
}
