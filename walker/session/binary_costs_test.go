package session

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// elfID is the build id of the module "app" of manyDump's second kind, elfDump.
var elfID = []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}

const elfBase, elfCode = 0x400000, 0x401000

var le = binary.LittleEndian

// elfOf is a program with code for n functions of 8 bytes, and more sections.
func elfOf(n int, more ...elftest.Section) *elftest.File {
	f := &elftest.File{Class: 64, Machine: 62, Type: 2}
	f.BuildID(elfID)
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: elfCode, Data: make([]byte, 8*n), Align: 16})
	for _, s := range more {
		f.Add(s)
	}
	f.Segments = append(f.Segments, elftest.Segment{Type: 1, Flags: 5, First: ".text", Last: ".text", Address: elfCode, Align: 16})
	return f
}

// elfSymbols has n functions in its symbol table.
func elfSymbols(n int) string {
	symbols := make([]elftest.Sym, n)
	for i := range symbols {
		symbols[i] = elftest.Sym{Name: fmt.Sprintf("f%d", i), Value: elfCode + 8*uint64(i), Size: 8, Type: 2, Bind: 1, Section: ".text"}
	}
	return string(elfOf(n).Symbols(".symtab", symbols).Bytes())
}

// elfFrames has n records of call frame information ("The .eh_frame section" of the Linux Standard
// Base).
func elfFrames(n int) string {
	const address = 0x4000000
	out := []byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0}
	for i := range n {
		at := uint32(len(out))
		out = le.AppendUint32(out, 16)
		out = le.AppendUint32(out, at+4) // back to the CIE
		out = le.AppendUint32(out, uint32(elfCode+8*i)-(address+at+8))
		out = le.AppendUint32(out, 8)
		out = append(out, 0, 0, 0, 0)
	}
	return string(elfOf(n, elftest.Section{Name: ".eh_frame", Type: 1, Flags: 2, Address: address, Data: append(out, 0, 0, 0, 0), Align: 8}).Bytes())
}

// elfDebug has entries of DWARF 4 for functions, and a line program that has so many rows.
func elfDebug(n, functions, rows int) string {
	abbrev := []byte{
		1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, // unit: name, lines, low_pc, high_pc
		2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0, // function: name, low_pc, high_pc
		0}
	info := []byte{4, 0, 0, 0, 0, 0, 8, 1, 'a', 0, 0, 0, 0, 0}
	info = le.AppendUint64(le.AppendUint64(info, elfCode), uint64(8*n))
	for i := range functions {
		info = append(append(info, 2), fmt.Sprintf("f%d\x00", i)...)
		info = le.AppendUint32(le.AppendUint64(info, elfCode+8*uint64(i)), uint32(8*n/functions))
	}
	info = append(info, 0)
	info = append(le.AppendUint32(nil, uint32(len(info))), info...)
	// Version 4: instructions of 1 byte, line_base -5, line_range 14, opcode_base 13, the file a.c.
	head := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 'a', '.', 'c', 0, 0, 0, 0, 0}
	line := append(le.AppendUint32([]byte{4, 0}, uint32(len(head))), head...)
	line = le.AppendUint64(append(line, 0, 9, 2), elfCode)
	for i := range rows {
		line = append(line, byte(13+14*8+6-2*(i%2))) // the address advances by 8, the line by 1 or -1
	}
	line = append(line, 0, 1, 1)
	line = append(le.AppendUint32(nil, uint32(len(line))), line...)
	section := func(name string, data []byte) elftest.Section {
		return elftest.Section{Name: name, Type: 1, Data: data, Align: 1}
	}
	return string(elfOf(n, section(".debug_abbrev", abbrev), section(".debug_info", info), section(".debug_line", line)).Bytes())
}

// machoCode is the RVA and the file offset of the code of machoOf.
const machoCode = 0x40000

// words is little-endian data: a text of 16 bytes, or numbers.
func words(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(append(b, p...), make([]byte, 16-len(p))...)
		case int:
			b = le.AppendUint32(b, uint32(p))
		case uint64:
			b = le.AppendUint64(b, p)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

// machoOf is a program of Apple's systems with code for n functions of 8 bytes (mach-o/loader.h).
// unwind is its section __unwind_info. linked is at the end of the file; commands are the load
// commands that say where in it, for its file offset.
func machoOf(n int, unwind, linked []byte, commands func(at int) []byte) string {
	const text = uint64(1) << 32
	code := machoCode + 8*n
	end := code + len(unwind)
	section := func(name string, at, size, flags int) []byte {
		return words(name, "__TEXT", text+uint64(at), uint64(size), at, 0, 0, 0, flags, 0, 0, 0)
	}
	list := words(0x19, 72+2*80, "__TEXT", text, uint64(end), uint64(0), uint64(end), 5, 5, 2, 0,
		section("__text", machoCode, 8*n, -0x7ffffc00), section("__unwind_info", code, len(unwind), 0),
		0x1b, 24, []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1, 2, 3, 4, 5, 6, 7, 8}, commands(end))
	count := 0
	for at := 0; at < len(list); at += int(le.Uint32(list[at+4:])) {
		count++
	}
	head := words(-0x1120531, 0x1000007, 3, 2, count, len(list), 0, 0, list) // 0xfeedfacf
	return string(words(head, make([]byte, code-len(head)), unwind, linked))
}

// machoSymbols has n symbols and function starts, and so many more load commands (LC_BUILD_VERSION).
func machoSymbols(n, commands int) string {
	names, starts, entries := []byte{0}, []byte{0x80, 0x80, machoCode >> 14}, []byte{}
	for i := range n {
		entries = append(entries, words(len(names), 0x0f|1<<8, uint64(1)<<32+machoCode+uint64(8*i))...)
		names = fmt.Appendf(names, "_f%d\x00", i)
		starts = append(starts, 8)
	}
	starts = append(starts[:len(starts)-1], 0)
	return machoOf(n, nil, words(entries, names, starts), func(at int) []byte {
		list := words(0x2, 24, at, n, at+len(entries), len(names), 0x26, 16, at+len(entries)+len(names), len(starts))
		for range commands {
			list = append(list, words(0x32, 12, 1)...)
		}
		return list
	})
}

// machoObjects is a tar of a program that a linker made of n objects, all of one name and with one
// function, and of these objects.
func machoObjects(n int) string {
	names, entries := []byte{0}, []byte{}
	entry := func(name string, kind int, value uint64) {
		at := 0
		if name != "" {
			at = len(names)
			names = append(append(names, name...), 0)
		}
		entries = append(entries, words(at, kind, value)...)
	}
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	add := func(name, data string) {
		w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Typeflag: tar.TypeReg, Mode: 0o644, Format: tar.FormatUSTAR})
		w.Write([]byte(data))
	}
	const text = uint64(1)<<32 + machoCode
	for i := range n {
		entry(fmt.Sprintf("/src/%d/a.o", i), 0x66, 0)
		entry(fmt.Sprintf("_f%d", i), 0x24|1<<8, text+uint64(8*i))
		entry("", 0x24, 8)
		symbol := fmt.Appendf([]byte{0}, "_f%d\x00", i)
		list := words(0x19, 72+80, "", uint64(0), uint64(8), uint64(32+152+24), uint64(8), 7, 7, 1, 0,
			"__text", "__TEXT", uint64(0), uint64(8), 32+152+24, 0, 0, 0, -0x7ffffc00, 0, 0, 0, 0x2, 24, 32+152+24+8, 1, 32+152+24+8+16, len(symbol))
		add(fmt.Sprintf("src/%d/a.o", i), string(words(-0x1120531, 0x1000007, 3, 1, 2, len(list), 0, 0, list, uint64(0), 1, 0x0f|1<<8, uint64(0), symbol)))
	}
	add("app", machoOf(n, nil, words(entries, names), func(at int) []byte {
		return words(0x2, 24, at, 3*n, at+len(entries), len(names))
	}))
	w.Close()
	return tarred.String()
}

// machoExports has n names in its exports trie, in nodes of 200.
func machoExports(n int) string {
	uleb := func(x int) []byte {
		return []byte{byte(x) | 0x80, byte(x>>7) | 0x80, byte(x>>14) | 0x80, byte(x >> 21)}
	}
	node := func(children, from, step int) []byte {
		b := []byte{0, byte(children)}
		for i := range children {
			b = append(append(b, byte('0'+i/100), byte('0'+i/10%10), byte('0'+i%10), 0), uleb(from+i*step)...)
		}
		return b
	}
	const most, leaf = 200, 7
	groups, nodeSize := (n+most-1)/most, 2+8*most
	leaves := 2 + 8*groups + groups*nodeSize
	trie := node(groups, 2+8*groups, nodeSize)
	for g := range groups {
		trie = append(trie, node(most, leaves+g*most*leaf, leaf)...)
	}
	for i := range groups * most {
		trie = append(append(append(trie, 5, 0), uleb(machoCode+8*i)...), 0)
	}
	return machoOf(groups*most, nil, trie, func(at int) []byte { return words(-0x7fffffcd, 16, at, len(trie)) })
}

// machoUnwind has n words in regular pages of __unwind_info, of 500 each: functions without a frame
// pointer, with frames of different sizes.
func machoUnwind(n int) string {
	const most, frameless = 500, 0x02000000
	pages := (n + most - 1) / most
	at := 28 + 12*(pages+1)
	out := words(1, 28, 0, 28, 0, 28, pages+1)
	for i := range pages {
		out = append(out, words(machoCode+8*most*i, at+i*(8+8*most), 0)...)
	}
	out = append(out, words(machoCode+8*most*pages, 0, 0)...)
	for i := range pages {
		out = append(out, words(2, 8|most<<16)...)
		for k := range most {
			out = append(out, words(machoCode+8*(i*most+k), frameless|(1+k%2)<<16)...)
		}
	}
	return machoOf(pages*most, out, nil, func(int) []byte { return nil })
}

// peFrames is a DLL whose .pdata has n functions (PE format, "The .pdata Section"). Their unwind
// information is one record: push rbx.
func peFrames(n int) string {
	const code, table, record = 0x1000, 0x4000000, 0x8000000
	head := make([]byte, 0x400)
	copy(head, "MZ")
	head[0x3c] = 0x40
	copy(head[0x40:], "PE\x00\x00\x64\x86\x03\x00")
	le.PutUint16(head[0x54:], 0xf0) // size of the optional header
	le.PutUint16(head[0x56:], 0x2022)
	opt := head[0x58:]
	le.PutUint16(opt, 0x20b)
	le.PutUint64(opt[24:], 0x180000000)
	le.PutUint32(opt[32:], 0x1000)
	le.PutUint32(opt[36:], 0x200)
	le.PutUint32(opt[56:], record+0x1000)
	le.PutUint32(opt[60:], 0x400)
	le.PutUint32(opt[108:], 16)
	le.PutUint32(opt[112+3*8:], table)
	le.PutUint32(opt[112+3*8+4:], uint32(12*n))
	out := head
	section := func(i int, name string, rva, flags uint32, data []byte) {
		h := head[0x58+0xf0+40*i:]
		copy(h, name)
		for len(data)%0x200 != 0 {
			data = append(data, 0)
		}
		le.PutUint32(h[8:], uint32(len(data)))
		le.PutUint32(h[12:], rva)
		le.PutUint32(h[16:], uint32(len(data)))
		le.PutUint32(h[20:], uint32(len(out)))
		le.PutUint32(h[36:], flags)
		out = append(out, data...)
	}
	var functions []byte
	for i := range n {
		functions = le.AppendUint32(le.AppendUint32(le.AppendUint32(functions, uint32(code+8*i)), uint32(code+8*i+8)), record)
	}
	section(0, ".text", code, 0x60000020, make([]byte, 8*n))
	section(1, ".pdata", table, 0x40000040, functions)
	section(2, ".xdata", record, 0x40000040, []byte{1, 1, 1, 0, 1, 0x30, 0, 0})
	copy(out, head)
	return string(out)
}

// pdbFunctions is a PDB with n functions in one module (the formats are those of LLVM's "The PDB
// File Format").
func pdbFunctions(n int) string {
	const page, none, infoAt, dbiAt, sectionsAt, moduleAt = 4096, "\xff\xff", 1, 3, 5, 6
	u32 := func(b []byte, v ...uint32) []byte {
		for _, x := range v {
			b = le.AppendUint32(b, x)
		}
		return b
	}
	streams := make([][]byte, moduleAt+1)
	streams[infoAt] = append(u32(nil, 20000404, 1, 1, 0x11223344, 0x77885566, 0x04030201, 0x08070605), make([]byte, 20)...)
	streams[sectionsAt] = u32([]byte(".text\x00\x00\x00"), uint32(8*n), 0x1000, uint32(8*n), 0x400, 0, 0, 0, 0x60000020)
	symbols := u32(nil, 4)
	for i := range n {
		name := fmt.Sprintf("function%06d\x00", i)
		at := len(symbols)
		symbols = append(symbols, 2+35+15+2, 0, 0x10, 0x11) // S_GPROC32
		symbols = u32(symbols, 0, uint32(at+56), 0, 8, 0, 0, 0, uint32(8*i))
		symbols = append(append(append(symbols, 1, 0, 0), name...), 0, 0, 0, 0)
		symbols = append(symbols[:at+56], 2, 0, 6, 0) // S_END
	}
	streams[moduleAt] = symbols
	mod := append(u32(nil, 0), make([]byte, 28)...)
	mod = u32(append(mod, 0, 0, moduleAt, 0), uint32(len(symbols)), 0, 0, 0, 0, 0, 0)
	mod = append(mod, "a.obj\x00a.obj\x00"...)
	part := u32(u32(nil, 0xeffe0000+19970605, 1, 0, uint32(8*n)), 0, 0, 0, 0)
	dbi := append(u32(nil, 0xffffffff, 19990903, 1), none+"\x00\x00"+none+"\x00\x00"+none+"\x00\x00"...)
	dbi = u32(dbi, uint32(len(mod)), uint32(len(part)), 0, 0, 0, 0, 22, 0)
	dbi = append(append(append(dbi, 0, 0, 0x64, 0x86, 0, 0, 0, 0), mod...), part...)
	dbi = append(dbi, strings.Repeat(none, 5)+string(rune(sectionsAt))+"\x00"+strings.Repeat(none, 5)...)
	streams[dbiAt] = dbi

	out := make([]byte, 3*page)
	add := func(data []byte) (pages []uint32) {
		for ; len(data) > 0; data = data[min(page, len(data)):] {
			pages = append(pages, uint32(len(out)/page))
			out = append(out, append(data[:min(page, len(data)):min(page, len(data))], make([]byte, page-min(page, len(data)))...)...)
		}
		return pages
	}
	dir := u32(nil, uint32(len(streams)))
	for _, s := range streams {
		dir = u32(dir, uint32(len(s)))
	}
	for _, s := range streams {
		dir = u32(dir, add(s)...)
	}
	list := add(u32(nil, add(dir)...))
	copy(out, u32(u32([]byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"), page, 1, uint32(len(out)/page), uint32(len(dir)), 0), list...))
	return string(out)
}
