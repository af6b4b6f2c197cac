package report_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/reporttest"
	"github.com/crashpane/crashpane/walker/report/view"
)

// programFile is a file of the program: addresses of variables and of what it has at its start.
type programFile struct {
	variables map[string]uint64
	initial   map[uint64]string
	pointers  map[uint64]uint64
}

func (p *programFile) Variables(_ int, names ...string) map[string]uint64 {
	found := map[string]uint64{}
	for _, n := range names {
		if at, ok := p.variables[n]; ok {
			found[n] = at
		}
	}
	return found
}
func (p *programFile) Initial(addr uint64, to []byte) int { return copy(to, p.initial[addr]) }
func (p *programFile) Pointer(addr uint64) (uint64, bool) { v, ok := p.pointers[addr]; return v, ok }

// words are numbers of 8 bytes, texts are themselves.
func words(all ...any) []byte {
	var out []byte
	for _, w := range all {
		switch w := w.(type) {
		case int:
			out = binary.LittleEndian.AppendUint64(out, uint64(w))
		case uint32:
			out = binary.LittleEndian.AppendUint32(out, w)
		case string:
			out = append(out, w...)
		}
	}
	return out
}

// TestInMemory: what runtimes keep in memory when they end a program.
func TestInMemory(t *testing.T) {
	const gnu, clang = 0x474e5543432b2b00, 0x434c4e47432b2b00
	// A header of an exception at 0x8000: the type is 80 bytes before the class, the object is after it.
	thrown := func(class int, object ...any) []byte {
		return append(words(0x9000, 0, 0, 0, 0, 0, 0, 0, 0, 0, class, 0, 0, 0), words(object...)...)
	}
	const class = "_ZTVN10__cxxabiv120__si_class_type_infoE"
	// ThrowInfo with two classes; numbers are relative to 0x400000.
	throwInfo := words(uint32(0), uint32(0), uint32(0), uint32(0x1010), uint32(2), uint32(0x1020), uint32(0x1030), uint32(0),
		uint32(0), uint32(0x2000), uint32(0), uint32(0), uint32(0), uint32(0x2040), uint32(8))
	type memory map[uint64][]byte
	for _, c := range []struct {
		name    string
		os      uint32
		code    uint32
		params  []uint64
		program *programFile
		memory  memory
		frames  string
		why     string
		said    string
	}{
		{"glibc's message", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"__abort_msg": 0x500800}},
			memory{0x500800: words(0x9000), 0x9000: words(uint32(0x100), "free(): invalid pointer\n\x00")}, "abort free", "a check of the allocator", "free(): invalid pointer"},
		{"no message", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"__abort_msg": 0x500800}}, memory{0x500800: words(0)}, "abort", "", ""},
		{"a message without end", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"__abort_msg": 0x500800}},
			memory{0x500800: words(0x9000), 0x9000: words(uint32(0x100), "free()")}, "abort", "", ""},
		{"HotSpot's message", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"_ZN7VMError8_messageE": 0x600800, "_ZN7VMError11_detail_msgE": 0x600900}},
			memory{0x600800: words(0x600a00), 0x600900: []byte("boom: Java heap space\x00"), 0x600a00: []byte("fatal error\x00")}, "abort report_fatal(char)", "the Java VM", "fatal error: boom: Java heap space"},
		{"HotSpot's message alone", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"_ZN7VMError8_messageE": 0x600800, "_ZN7VMError11_detail_msgE": 0x600900}},
			memory{0x600800: words(0x600a00), 0x600900: []byte("\x00"), 0x600a00: []byte("boom\x00")}, "abort report_fatal(char)", "the Java VM", "boom"},
		{"Go's ring", dumptest.OSLinux, 6, nil, &programFile{variables: map[string]uint64{"runtime.printBacklog": 0x400800, "runtime.printBacklogIndex": 0x400a00}},
			memory{0x400800: append(words("asleep\n"), append(make([]byte, 493), words("fatal error:", 7)...)...)}, "runtime.raise runtime.throw", "Go's runtime", "fatal error:asleep"},
		{"libstdc++", dumptest.OSLinux, 6, nil, &programFile{initial: map[uint64]string{}},
			memory{0x7fb0: thrown(gnu, 0x1234, 0x9100), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("St13runtime_error\x00"), 0x9100: []byte("boom\x00")}, "abort __cxa_throw", "of type std::runtime_error", "boom"},
		{"libc++abi", dumptest.OSLinux, 6, nil, nil,
			memory{0x7fb0: thrown(clang, 0x1234, 0x9100), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("St11logic_error\x00"), 0x9100: []byte("boom\x00")}, "abort __cxa_throw", "of type std::logic_error", "boom"},
		{"a class derived from one with a text", dumptest.OSLinux, 6, nil,
			&programFile{variables: map[string]uint64{class: 0x500100}, pointers: map[uint64]uint64{0x9000: 0x500110, 0x9008: 0x9080, 0x9010: 0x9200, 0x9208: 0x9280}},
			memory{0x7fb0: thrown(gnu, 0x1234, 0x9100), 0x9080: []byte("*N3app5ErrorE\x00"), 0x9280: []byte("St13runtime_error\x00"), 0x9100: []byte("boom\x00")}, "abort __cxa_throw", "of type app::Error", "boom"},
		{"a class that is not known to be", dumptest.OSLinux, 6, nil,
			&programFile{variables: map[string]uint64{class: 0x500200}, pointers: map[uint64]uint64{0x9000: 0x500110, 0x9008: 0x9080, 0x9010: 0x9200, 0x9208: 0x9280}},
			memory{0x7fb0: thrown(gnu, 0x1234, 0x9100), 0x9080: []byte("N3app5ErrorE\x00"), 0x9280: []byte("St13runtime_error\x00"), 0x9100: []byte("boom\x00")}, "abort __cxa_throw", "of type app::Error", ""},
		{"a number", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, uint32(42)), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("i\x00")}, "abort __cxa_throw", "of type int", "42"},
		{"a text", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, 0x9100), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("PKc\x00"), 0x9100: []byte("boom\x00")}, "abort __cxa_throw", "of type char const*", "boom"},
		{"a length beyond every memory", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, 0x9100, -1<<63), 0x9000: words(0x1111, 0x9080),
			0x9080: []byte("NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\x00"), 0x9100: bytes.Repeat([]byte("boom"), 1000)}, "abort __cxa_throw", "of type std::", "boom"},
		{"a long text that is cut within a character", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, 0x9100, 3000), 0x9000: words(0x1111, 0x9080),
			0x9080: []byte("NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\x00"), 0x9100: bytes.Repeat([]byte("é"), 1500)}, "abort __cxa_throw", "of type std::", "éé…"},
		{"a text that is no text", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, 0x9100, 3000), 0x9000: words(0x1111, 0x9080),
			0x9080: []byte("NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\x00"), 0x9100: bytes.Repeat([]byte("\xff"), 3000)}, "abort __cxa_throw", "of type std::", ""},
		{"another language's", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(0x1234, 0x9100), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("PKc\x00")}, "abort __cxa_throw", "a C++ exception that nothing caught", ""},
		{"not thrown", dumptest.OSLinux, 6, nil, nil, memory{0x7fb0: thrown(gnu, 0x9100), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("PKc\x00"), 0x9100: []byte("boom\x00")}, "abort crash", "", ""},
		{"Microsoft's", dumptest.OSWindows, 0xe06d7363, []uint64{0x19930520, 0x8000, 0x401000, 0x400000}, &programFile{initial: map[uint64]string{0x402010: ".?AVError@app@@\x00", 0x402050: ".?AVexception@std@@\x00"}},
			memory{0x401000: throwInfo, 0x8000: words(0, 0x1234, 0x9100), 0x9100: []byte("boom\x00")}, "f", "of type app::Error", "boom"},
		{"Microsoft's, cut", dumptest.OSWindows, 0xe06d7363, []uint64{0x19930520, 0x8000, 0x401000, 0x400000}, nil, memory{0x401000: throwInfo[:20]}, "f", "", ""},
		{"GCC's on Windows", dumptest.OSWindows, 0x20474343, []uint64{0x8000, 0, 0, 0}, nil,
			memory{0x7fb0: append(thrown(gnu), words(0, 0, 0, 0, 42)...), 0x9000: words(0x1111, 0x9080), 0x9080: []byte("i\x00")}, "f", "of type int", "42"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
			b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: c.os}).
				Thread(7, ctx, 0x7000, make([]byte, 64)).Module(0x400000, 0x10000, "/bin/app", nil).Module(0x500000, 0x1000, "/lib/libc.so.6", nil).Module(0x600000, 0x1000, "/jvm/libjvm.so", nil).
				Exception(7, c.code, 0xfffffffa, 0, ctx, c.params...)
			for at, bytes := range c.memory {
				b.Memory(at, bytes)
			}
			raw := b.Bytes()
			d, err := core.Open(input.New("x.dmp", bytes.NewReader(raw), int64(len(raw))))
			if err != nil {
				t.Fatal(err)
			}
			var frames []walker.Frame
			for i, name := range strings.Fields(c.frames + " main") {
				f := walker.Frame{PC: 0x400010, Regs: reporttest.AllRegs(cpu.AMD64, 0x400010, 0x7000+16*uint64(i)), Trust: walker.TrustCFI, Answer: symbol.Yes, Symbol: symbol.Symbol{Name: name}}
				rbx, _ := cpu.AMD64.Lookup("rbx")
				f.Regs.Set(rbx, 0x8000+32) // the object
				frames = append(frames, f)
			}
			in := report.Input{Dump: d, Stacks: []walker.Stack{{Frames: frames}}}
			if c.program != nil {
				in.Program = c.program
			}
			r := report.Build(in)
			r.Demangle(msvc.Name)
			if have := r.Crash.Why(); !strings.Contains(have, c.why) {
				t.Errorf("%q, want %q", have, c.why)
			}
			has := func(m report.Message) bool {
				return m.InMemory && m.Private && strings.Contains(strings.ReplaceAll(m.Text, "\n", ""), c.said)
			}
			if c.said == "" && slices.ContainsFunc(r.Messages, func(m report.Message) bool { return m.InMemory }) || c.said != "" && !slices.ContainsFunc(r.Messages, has) {
				t.Errorf("%+v, want %q", r.Messages, c.said)
			}
			notExported(t, r, "boom", "free():", "asleep")
		})
	}
}

// notExported checks that exports have a text of the program's memory only if they are asked to.
func notExported(t *testing.T, r *report.Report, secrets ...string) {
	v := view.New(r, demangle.Name)
	var plain, private, shown bytes.Buffer
	for _, s := range v.Summary().Messages {
		shown.WriteString(s.Value)
	}
	if err := jsonreport.Write(&plain, r, jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := jsonreport.Write(&private, r, jsonreport.Options{Private: true}); err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets {
		is := strings.Contains(shown.String(), s)
		if asked := strings.Contains(private.String(), s); asked != is {
			t.Errorf("%s: the page has it: %v, the JSON that is asked: %v", s, is, asked)
		}
		for name, export := range map[string]string{"JSON": plain.String(), "ticket": ticketText(r)} {
			if strings.Contains(export, s) {
				t.Errorf("%s tells %q", name, s)
			}
		}
		if out := view.New(r.Redacted(), demangle.Name).Summary(); strings.Contains(out.Signature, s) || len(out.Messages) > 0 && strings.Contains(out.Messages[0].Value, s) {
			t.Errorf("a redacted report tells %q", s)
		}
	}
}

// ticketText is all that a ticket has by default.
func ticketText(r *report.Report) string {
	return fmt.Sprintf("%+v", view.Ticket(r, demangle.Name, view.TicketOptions{Thread: -1, All: true}))
}

// TestRustPanic: the payload is in the frame of what called std's panic_with_hook, which has its address
// and the table of its type in registers.
func TestRustPanic(t *testing.T) {
	const format, static = "<std::panicking::panic_handler::FormatStringPayload as core::fmt::Display>::fmt", "<std::panicking::begin_panic::Payload<&str> as core::fmt::Display>::fmt"
	const table = 0x400800
	for _, c := range []struct {
		name, function string
		payload        []byte // at 0x7210
		regs           map[string]uint64
		want           string
	}{
		{"formatted", format, words(8, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7210}, "boom 3"},
		{"a literal", static, words(0x9000, 4), map[string]uint64{"rbx": table, "r14": 0x7210}, "boom"},
		{"not formatted yet", format, words(-1<<63, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7210}, ""},
		{"longer than its capacity", format, words(5, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7210}, ""},
		{"no table", format, words(8, 0x9000, 6), map[string]uint64{"r15": 0x7210}, ""},
		{"a table of another type", "<app::P as core::fmt::Display>::fmt", words(8, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7210}, ""},
		{"two addresses", format, words(8, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7210, "r14": 0x7218}, ""},
		{"in another frame", format, words(8, 0x9000, 6), map[string]uint64{"r12": table, "r15": 0x7310}, ""},
	} {
		ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
		stack := make([]byte, 0x400)
		copy(stack[0x210:], c.payload)
		raw := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
			Thread(7, ctx, 0x7000, stack).Module(0x400000, 0x10000, "/bin/app", nil).Memory(table, words(0, 32, 8, 0x400500)).
			Memory(0x9000, []byte("boom 3 and more")).Exception(7, 6, 0xfffffffa, 0, ctx).Bytes()
		d, err := core.Open(input.New("x.dmp", bytes.NewReader(raw), int64(len(raw))))
		if err != nil {
			t.Fatal(err)
		}
		var frames []walker.Frame
		for i, name := range []string{"abort", "std::panicking::panic_with_hook", "std::panicking::panic_handler", "core::panicking::panic_fmt", "main"} {
			f := walker.Frame{PC: 0x400010, Regs: reporttest.Regs(cpu.AMD64, map[string]uint64{"rip": 0x400010, "rsp": 0x7000 + 0x100*uint64(i)}), Trust: walker.TrustCFI, Answer: symbol.Yes, Symbol: symbol.Symbol{Name: name}}
			for r, v := range c.regs {
				reg, _ := cpu.AMD64.Lookup(r)
				f.Regs.Set(reg, v)
			}
			frames = append(frames, f)
		}
		r := report.Build(report.Input{Dump: d, Stacks: []walker.Stack{{Frames: frames}}, Lookup: func(_ int, rva uint64) (symbol.Symbol, symbol.Answer) {
			return symbol.Symbol{Name: c.function, Start: 0x500}, symbol.Yes
		}})
		have := ""
		for _, m := range r.Messages {
			have += m.Text
		}
		if have != c.want {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
		notExported(t, r, "boom")
	}
}
