package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// shrink takes out of a program what costs many bytes to fetch and does nothing: a good eighth at brotli 11.
//
// Go's linker cuts the data into up to 100,000 segments so as not to store zeros; compressed, a segment's head costs more than
// the zeros do. And it writes which line each instruction came from, of which nothing but a traceback makes use; those print
// "?:0" then, and still name each function with its offset. A build by hand from the same sources has the lines.
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
			if err := dropLines(image); err != nil {
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

// WebAssembly Core Specification 2.0, chapter 5: the head of a module, the id of its data section, and the bytes
// of an active segment at a constant address.
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
		return nil, errors.New("this is no WebAssembly program of version 1")
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

// maxImage bounds the memory that a program fills at its start.
const maxImage = 256 << 20

// readSegments answers memory as the segments leave it.
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

// minGap is from how many zeros on another segment begins: enough to keep large empty tables out of the file.
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

// signed reads a signed LEB128 number and answers how many bytes it has, 0 if it does not end.
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

// appendSigned writes a number that is not negative.
func appendSigned(p []byte, v int64) []byte {
	for v >= 0x40 {
		p = append(p, byte(v)|0x80)
		v >>= 7
	}
	return append(p, byte(v))
}

// Go's table of functions, runtime/symtab.go and internal/abi/symtab.go, as Go 1.20 to 1.26 write it for 64-bit
// little-endian programs whose instructions are counted by one, which wasm's are.
const (
	tableMagic = "\xf1\xff\xff\xff\x00\x00\x01\x08"
	tableWords = 8 // of 8 bytes: functions, files, text's start, offsets of names, units, files, pc tables, functions

	funcPCSP      = 16 // offsets in the record of a function
	funcPCFile    = 20
	funcPCLine    = 24
	funcTables    = 28 // how many pc tables follow the record
	funcStartLine = 36
	funcSize      = 44
)

// dropLines empties the tables of files and lines. A function whose table stands at 0 has none; that is what functions without
// instructions have anyway.
func dropLines(image []byte) error {
	at := bytes.Index(image, []byte(tableMagic))
	if at < 0 || bytes.Contains(image[at+1:], []byte(tableMagic)) {
		return errors.New("Go's table of functions is not there once; does this Go lay it out in another way?")
	}
	table := image[at:]
	word := func(i int) uint64 {
		return binary.LittleEndian.Uint64(table[len(tableMagic)+8*i:])
	}
	if len(table) < len(tableMagic)+8*tableWords {
		return errShort
	}
	count, pcTables, funcs := word(0), word(6), word(7)
	if funcs > uint64(len(table)) || pcTables > funcs || count > (uint64(len(table))-funcs)/8 {
		return errors.New("Go's table of functions does not fit into the program")
	}
	pcs, records := table[pcTables:funcs], table[funcs:]
	u32 := binary.LittleEndian.Uint32
	kept := map[uint32]bool{0: true}
	lines := map[uint32]bool{}
	for i := range int(count) {
		off := uint64(u32(records[8*i+4:]))
		if off+funcSize > uint64(len(records)) {
			return fmt.Errorf("the record of function %d lies outside of the table", i)
		}
		f := records[off:]
		n := int(u32(f[funcTables:]))
		if funcSize+4*n > len(f) {
			return fmt.Errorf("the tables of function %d lie outside of the table", i)
		}
		lines[u32(f[funcPCFile:])], lines[u32(f[funcPCLine:])] = true, true
		kept[u32(f[funcPCSP:])] = true
		for t := range n {
			kept[u32(f[funcSize+4*t:])] = true
		}
		clear(f[funcPCFile:funcTables])
		clear(f[funcStartLine:][:4])
	}
	for start := range lines {
		// Tables of equal content are one.
		if kept[start] {
			continue
		}
		end, err := tableEnd(pcs, start)
		if err != nil {
			return err
		}
		clear(pcs[start:end])
	}
	return nil
}

// tableEnd is where a pc table ends: after pairs of a value's and a pc's step, the value's being 0 only in the first pair.
func tableEnd(pcs []byte, start uint32) (uint32, error) {
	for at := start; at < uint32(len(pcs)); {
		if pcs[at] == 0 && at != start {
			return at + 1, nil
		}
		for range 2 {
			_, n := binary.Uvarint(pcs[at:])
			if n <= 0 {
				return 0, fmt.Errorf("the pc table at %d is broken", start)
			}
			at += uint32(n)
		}
	}
	return 0, fmt.Errorf("the pc table at %d does not end", start)
}
