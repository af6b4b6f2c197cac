package dumptext

import (
	"reflect"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// section is a part of the output: one field of core.Dump.
//
// Example: the Threads of core.Dump are printed as "thread", by printThreads, and have the content
// of the streams ThreadList and ThreadNames, which printStreams therefore does not print as bytes.
type section struct {
	field string // of core.Dump
	name  string // as printed; "" for the field's own
	// streams are the streams whose content the section prints. Other streams are printed as text
	// or bytes.
	streams []core.StreamType
	// how prints the section. nil prints the field by reflection.
	how func(w *walk, name string, v reflect.Value)
}

func (s *section) print(w *walk, v reflect.Value) {
	name := s.name
	if name == "" {
		name = fieldName(s.field)
	}
	if s.how != nil {
		s.how(w, name, v)
		return
	}
	if v.IsZero() {
		return
	}
	w.any(name, v, s.field)
}

// sections has the sections in the order of the output. A test checks that each stream that core
// decodes is here or in textStreams.
var sections []section

// textStreams has the streams of text that core does not decode.
var textStreams = []core.StreamType{0x4767000b, 0x4767000c, 0x4767000d, 0xface1ca7, 0xfacecafa, 0xfacecafb, 0xfacecafc, 0xfacecafd,
	0xfacecafe, 0xfacecb00, 0xfacecccc, 0xfacedead, 0xfacee000}

func init() {
	sections = []section{
		{field: "Src", how: nothing},
		{field: "Registers", how: nothing}, // the contexts name their processor
		{field: "Program", how: nothing},
		{field: "Section", how: nothing},
		{field: "Header"},
		{field: "Micro", name: "microdump"},
		{field: "Streams", name: "stream", how: printStreams},
		{field: "Diags", name: "diagnostic"},
		{field: "System", streams: []core.StreamType{core.StreamSystemInfo}},
		{field: "Misc", name: "misc_info", streams: []core.StreamType{core.StreamMiscInfo}, how: printRenamed("Flags", "MiscFlags")},
		{field: "Exception", streams: []core.StreamType{core.StreamException}, how: printException},
		{field: "Exceptions", name: "other_exception", streams: []core.StreamType{core.StreamException}, how: printOthers},
		{field: "Breakpad", name: "breakpad_info", streams: []core.StreamType{core.StreamBreakpadInfo}},
		{field: "Assertion", streams: []core.StreamType{core.StreamAssertion}, how: printRenamed("Type", "AssertionType")},
		{field: "Threads", name: "thread", streams: []core.StreamType{core.StreamThreadList, core.StreamThreadNames}, how: printThreads},
		{field: "Modules", name: "module", streams: []core.StreamType{core.StreamModuleList}},
		{field: "Unloaded", name: "unloaded_module", streams: []core.StreamType{core.StreamUnloadedList}},
		{field: "HostModules", name: "host_module", streams: []core.StreamType{0xfff0}},
		{field: "Regions", name: "memory_info", streams: []core.StreamType{core.StreamMemoryInfoList}, how: printRegions},
		{field: "Linux", streams: []core.StreamType{core.StreamLinuxCPUInfo, core.StreamLinuxStatus, core.StreamLinuxLSB, core.StreamLinuxCmdLine,
			core.StreamLinuxEnviron, core.StreamLinuxAuxv, core.StreamLinuxMaps, 0x4767000a}},
		{field: "Windows", streams: []core.StreamType{8, 10, 11, 13, 17, 19, 21, 22}},
		{field: "Handles", name: "handle", streams: []core.StreamType{12}},
		{field: "HandleOperations", name: "handle_operation", streams: []core.StreamType{18}},
		{field: "Crashpad", streams: []core.StreamType{0x43500001}},
		{field: "MacCrashInfo", streams: []core.StreamType{0x4d7a0001}},
		{field: "MacBootArgs", streams: []core.StreamType{0x4d7a0002}},
		{field: "Limits", name: "limit", streams: []core.StreamType{0x4d7a0003}},
		{field: "HasLimits", how: nothing},
		{field: "SoftErrors", streams: []core.StreamType{0x4d7a0004}},
		{field: "Memory", streams: []core.StreamType{core.StreamMemoryList, core.StreamMemory64List}, how: printMemory},
	}
}

// nothing is for fields that another section prints or that say nothing by themselves.
func nothing(*walk, string, reflect.Value) {}

// claimed reports whether a section prints a stream's content.
func claimed(t core.StreamType) bool {
	return slices.ContainsFunc(sections, func(s section) bool { return slices.Contains(s.streams, t) })
}

// some is list, unless n is 0.
func (w *walk) some(name string, n int, item func(i int)) {
	if n > 0 {
		w.list(name, n, item)
	}
}

// list prints a list of n structs.
func (w *walk) list(name string, n int, item func(i int)) {
	w.open(name, true)
	for i := range n {
		w.open("", false)
		item(i)
		w.close()
	}
	w.close()
}

// printStreams prints the directory, and the content of streams that no section prints.
func printStreams(w *walk, name string, _ reflect.Value) {
	w.list(name, len(w.d.Streams), func(i int) {
		s := &w.d.Streams[i]
		w.fields(reflect.ValueOf(s).Elem(), 0)
		if s.Type != core.StreamUnused && (s.Duplicate && s.Type != core.StreamException || !s.Decoded || !claimed(s.Type)) {
			w.content(s)
		}
	})
}

// content prints a stream as lines if it is text, else as bytes. printStreams calls it for a stream
// that no section prints, for a second one of a type, and for one that core could not read.
func (w *walk) content(s *core.Stream) {
	if s.Loc.Size == 0 {
		return
	}
	if Private(s.Type) && !w.o.All {
		w.leftOut("bytes", s.Loc.Size, "--all")
		return
	}
	if !w.text("text", s.Loc) {
		w.raw("bytes", s.Loc, 0)
	}
}

// printRenamed prints a struct, if there is one, and gives one of its fields a Go name of its own, because
// fields of other structs with the same name mean other things.
func printRenamed(field, as string) func(w *walk, name string, v reflect.Value) {
	return func(w *walk, name string, v reflect.Value) {
		if v.IsNil() {
			return
		}
		w.open(name, false)
		w.renamed(v.Elem(), field, as)
		w.close()
	}
}

func printRegions(w *walk, name string, v reflect.Value) {
	w.some(name, v.Len(), func(i int) { w.renamed(v.Index(i), "Type", "MemoryType") })
}

// renamed prints a struct's fields, and treats one as if it had another Go name.
func (w *walk) renamed(v reflect.Value, field, as string) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if w.hidden(v, i) {
			continue
		}
		goName := f.Name
		if goName == field {
			goName = as
		}
		w.any(fieldName(f.Name), v.Field(i), goName)
	}
}

func printException(w *walk, name string, v reflect.Value) {
	if v.IsNil() {
		return
	}
	w.open(name, false)
	w.renamed(v.Elem(), "Flags", "ExceptionFlags")
	w.context(w.d.ExceptionContext())
	w.close()
}

// printOthers prints the exceptions of a dump with several, but for the last, which is in its own
// section.
func printOthers(w *walk, name string, v reflect.Value) {
	w.some(name, max(0, v.Len()-1), func(i int) {
		w.renamed(v.Index(i), "Flags", "ExceptionFlags")
		w.context(w.d.ContextOf(&w.d.Exceptions[i]))
	})
}

func printThreads(w *walk, name string, v reflect.Value) {
	w.some(name, v.Len(), func(i int) {
		w.fields(v.Index(i), 0)
		w.context(w.d.ThreadContext(i))
	})
}

// context prints every register by name.
func (w *walk) context(c *core.Context, err error) {
	if err != nil {
		w.value("context_error", quoted(err.Error()))
		return
	}
	w.open("context", false)
	w.value("cpu", plain(c.Arch.Name))
	if w.d.Registers == nil {
		w.value("flags", hexadecimal(uint64(c.Flags), 0))
	}
	digits := 2 * c.Arch.WordSize
	for i, n := range c.Arch.Names {
		if v, ok := c.Regs.Get(cpu.Reg(i)); ok {
			w.value(n, hexadecimal(v, digits))
		}
	}
	for _, x := range c.Extra {
		w.value(x.Name, registerBytes(x.Bytes))
	}
	w.close()
}

// printMemory prints the two memory lists as they are in the file, and with Options.Memory the
// bytes of all memory, each address once.
//
// A dump may have the same bytes several times, in the memory list, the Memory64List and as a
// thread's stack. Memory.Regions has each address once.
func printMemory(w *walk, _ string, _ reflect.Value) {
	for _, l := range []struct {
		name string
		list []core.Region
	}{{"memory_list", w.d.Memory.List()}, {"memory64_list", w.d.Memory.List64()}, {"memory", w.d.Memory.Regions()}} {
		if l.name == "memory" && !w.o.Memory {
			continue
		}
		w.some(l.name, len(l.list), func(i int) {
			r := &l.list[i]
			w.value("start", hexadecimal(r.Start, 0))
			w.value("end", hexadecimal(r.End(), 0))
			w.value("size", hexadecimal(r.Loc.Size, 0))
			w.value("offset", hexadecimal(uint64(r.Loc.Off), 0))
			if l.name == "memory" {
				w.raw("bytes", r.Loc, r.Start)
			}
		})
	}
	if !w.o.Memory && len(w.d.Memory.Regions()) > 0 {
		w.value("memory_bytes", plain("left out; --memory prints them"))
	}
}
