package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// shrink removes data that a program does not need to run. At brotli 11 this is more than an eighth
// of it.
//
// First, it joins data segments. Go's linker writes up to 100,000 of them to leave out zeros, but
// in the compressed file a segment's header takes more bytes than the zeros would (writeSegments).
//
// Second, it removes the tables of files, line numbers, arguments and inlined calls, which only
// tracebacks use. A traceback then prints "?:0" for the line, and still the function's name and the
// offset in it. An inlined call is then a part of its caller. To get all of it, build the same
// sources with go build (dropTraces).
func shrink(wasm []byte) ([]byte, error) {
	sections, err := splitSections(wasm)
	if err != nil {
		return nil, err
	}
	out := append([]byte{}, wasm[:len(wasmHead)]...)
	found := false
	for _, s := range sections {
		if s.id == dataSection {
			image, err := readSegments(s.body)
			if err != nil {
				return nil, err
			}
			if err := dropTraces(image); err != nil {
				return nil, err
			}
			s.body, found = writeSegments(image), true
		}
		out = append(out, s.id)
		out = binary.AppendUvarint(out, uint64(len(s.body)))
		out = append(out, s.body...)
	}
	if !found {
		return nil, errors.New("the program has no data section")
	}
	return out, nil
}

// WebAssembly Core Specification 2.0, chapter 5: the preamble of a module (magic "\0asm" and
// version 1) and the id of its data section. An active data segment in memory 0 at a constant
// address is 0x00, i32.const (0x41), the address, end (0x0b), the bytes' count, the bytes.
const (
	wasmHead    = "\x00asm\x01\x00\x00\x00"
	dataSection = 11
	opConst     = 0x41
	opEnd       = 0x0b
)

type section struct {
	id   byte
	body []byte
}

var errShort = errors.New("the program ends within a section")

func splitSections(wasm []byte) ([]section, error) {
	rest, ok := bytes.CutPrefix(wasm, []byte(wasmHead))
	if !ok {
		return nil, errors.New("this is not a WebAssembly module of version 1")
	}
	var out []section
	for len(rest) > 0 {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, errShort
		}
		body := rest[1+n:][:size]
		out = append(out, section{rest[0], body})
		rest = rest[1+n+int(size):]
	}
	return out, nil
}

// maxImage is the limit of the memory that data segments fill.
const maxImage = 256 << 20

// readSegments returns the memory's contents after all segments were copied into it.
func readSegments(body []byte) ([]byte, error) {
	count, n := binary.Uvarint(body)
	if n <= 0 {
		return nil, errShort
	}
	body = body[n:]
	var image []byte
	for ; count > 0; count-- {
		if len(body) < 3 || body[0] != 0 || body[1] != opConst {
			return nil, errors.New("a data segment is not of the kind that Go's linker writes")
		}
		at, n := signed(body[2:])
		if n <= 0 || at < 0 || len(body) <= 2+n || body[2+n] != opEnd {
			return nil, errors.New("a data segment's address is not a constant")
		}
		body = body[3+n:]
		size, n := binary.Uvarint(body)
		if n <= 0 || size > uint64(len(body)-n) || at+int64(size) > maxImage {
			return nil, errShort
		}
		if end := int(at) + int(size); end > len(image) {
			image = append(image, make([]byte, end-len(image))...)
		}
		copy(image[at:], body[n:][:size])
		body = body[n+int(size):]
	}
	return image, nil
}

// minGap is the number of consecutive zeros that writeSegments leaves out of the file, by beginning
// another segment after them. It is so large that only big empty tables reach it.
const minGap = 256

func writeSegments(image []byte) []byte {
	var segments []byte
	count := uint64(0)
	gap := make([]byte, minGap)
	for at := 0; at < len(image); {
		if image[at] == 0 {
			at++
			continue
		}
		end := len(image)
		if i := bytes.Index(image[at:], gap); i >= 0 {
			end = at + i
		}
		segments = append(segments, 0, opConst)
		segments = appendSigned(segments, int64(at))
		segments = append(segments, opEnd)
		segments = binary.AppendUvarint(segments, uint64(end-at))
		segments = append(segments, image[at:end]...)
		count++
		at = end
	}
	return append(binary.AppendUvarint(nil, count), segments...)
}

// signed decodes a signed LEB128 number (section 5.2.2): 7 bits a byte, the lowest first, bit 7 set
// in all bytes but the last; bit 6 of the last byte is the sign. It returns the number and how many
// bytes it has, 0 if p ends before it does.
func signed(p []byte) (v int64, n int) {
	for shift := 0; n < len(p) && shift < 63; shift += 7 {
		c := p[n]
		n++
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
	return 0, 0
}

// appendSigned appends v, which must not be negative, in signed LEB128.
func appendSigned(p []byte, v int64) []byte {
	for v >= 0x40 {
		p = append(p, byte(v)|0x80)
		v >>= 7
	}
	return append(p, byte(v))
}

// The layout of Go's table of functions, the pclntab (runtime/symtab.go and
// internal/abi/symtab.go), as Go 1.20 to 1.26 write it for 64-bit little-endian programs. Its
// header's instruction size is 1 for wasm.
const (
	tableMagic = "\xf1\xff\xff\xff\x00\x00\x01\x08"
	tableWords = 8 // of 8 bytes: functions, files, text's start, offsets of names, units, files, pc tables, functions

	funcPCSP      = 16 // offsets in the record of a function
	funcPCFile    = 20
	funcPCLine    = 24
	funcPCTables  = 28 // how many offsets of pc tables follow the record
	funcUnit      = 32 // with the function's start line, its place in the tables of files
	funcID        = 40
	funcDataCount = 43 // how many offsets of data follow those of pc tables
	funcSize      = 44

	// In the runtime's record of the program (runtime.moduledata), which begins with the addresses
	// of the table and of the names in it: the address from which offsets of functions' data count.
	moduleFuncData = 8 * 40
)

// unusedPCTables and unusedData are the kinds of a function's pc tables and data that the program
// does without (PCDATA_ and FUNCDATA_ in internal/abi/symtab.go). UnsafePoint says where a signal must
// not interrupt a function, and wasm has no signals. The others are for tracebacks.
var (
	unusedPCTables = []int{0, 2, 3} // UnsafePoint, InlTreeIndex, ArgLiveIndex
	unusedData     = []int{3, 5, 6} // InlTree, ArgInfo, ArgLiveInfo
)

// dropTraces removes the tables that only tracebacks use: it fills them with zeros, and each
// function's record then says that it does not have them, as some functions' do anyway.
func dropTraces(image []byte) error {
	at := bytes.Index(image, []byte(tableMagic))
	if at < 0 || bytes.Contains(image[at+1:], []byte(tableMagic)) {
		return errors.New("the program does not have Go's table of functions exactly once; this version of Go may have changed its layout")
	}
	table := image[at:]
	word := func(i int) uint64 {
		return binary.LittleEndian.Uint64(table[len(tableMagic)+8*i:])
	}
	if len(table) < len(tableMagic)+8*tableWords {
		return errShort
	}
	count, names, units, pcTables, funcs := word(0), word(3), word(4), word(6), word(7)
	if funcs > uint64(len(table)) || pcTables > funcs || units > pcTables || count > (uint64(len(table))-funcs)/8 {
		return errors.New("Go's table of functions does not fit into the program")
	}
	data, err := functionData(image, uint64(at), uint64(at)+names)
	if err != nil {
		return err
	}
	clear(table[units:pcTables])
	records := table[funcs:]
	pcs := &offsets{none: 0, needed: map[uint32]bool{}}
	datas := &offsets{none: ^uint32(0), needed: map[uint32]bool{}}
	for i := range int(count) {
		off := uint64(binary.LittleEndian.Uint32(records[8*i+4:]))
		if off+funcSize > uint64(len(records)) {
			return fmt.Errorf("the record of function %d is outside the table", i)
		}
		if err := dropOf(records[off:], pcs, datas); err != nil {
			return fmt.Errorf("function %d: %w", i, err)
		}
	}
	return errors.Join(pcs.clear(table[pcTables:funcs]), datas.clear(data))
}

// functionData returns the part of the memory that begins with functions' data. It finds its address
// in the program's record, which begins with two addresses.
func functionData(image []byte, table, names uint64) ([]byte, error) {
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, table), names)
	at := bytes.Index(image, head)
	if at < 0 || at+moduleFuncData+8 > len(image) {
		return nil, errors.New("the program does not have the runtime's record of it")
	}
	start := binary.LittleEndian.Uint64(image[at+moduleFuncData:])
	if start > uint64(len(image)) {
		return nil, errors.New("the data of functions are outside the memory")
	}
	return image[start:], nil
}

// dropOf removes what is unused from a function's record.
func dropOf(f []byte, pcs, datas *offsets) error {
	tables := int(binary.LittleEndian.Uint32(f[funcPCTables:]))
	data := int(f[funcDataCount])
	if tables > len(f)/4 || funcSize+4*(tables+data) > len(f) {
		return errors.New("its tables are outside the table of functions")
	}
	pcs.add(f[funcPCSP:], true)
	pcs.add(f[funcPCFile:], false)
	pcs.add(f[funcPCLine:], false)
	clear(f[funcUnit:funcID])
	for t := range tables {
		pcs.add(f[funcSize+4*t:], !slices.Contains(unusedPCTables, t))
	}
	for t := range data {
		datas.add(f[funcSize+4*(tables+t):], !slices.Contains(unusedData, t))
	}
	return nil
}

// offsets are those of tables, each with whether the program needs the table: functions with equal
// tables share one.
type offsets struct {
	none   uint32 // the offset that says there is no table
	needed map[uint32]bool
}

// add adds the offset at p. If its table is not needed there, it removes the offset.
func (o *offsets) add(p []byte, needed bool) {
	at := binary.LittleEndian.Uint32(p)
	if at == o.none {
		return
	}
	o.needed[at] = o.needed[at] || needed
	if !needed {
		binary.LittleEndian.PutUint32(p, o.none)
	}
}

// clear fills tables that are not needed with zeros. A table ends where the next one begins.
func (o *offsets) clear(tables []byte) error {
	starts := slices.Sorted(maps.Keys(o.needed))
	if n := len(starts); n > 0 && starts[n-1] > uint32(len(tables)) {
		return fmt.Errorf("the table at %d is outside the program", starts[n-1])
	}
	for i, start := range starts[:max(len(starts)-1, 0)] {
		if !o.needed[start] {
			clear(tables[start:starts[i+1]])
		}
	}
	return nil
}
