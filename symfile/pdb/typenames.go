package pdb

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// plainTypes are the types that have no records, by the low byte of their number. The byte above
// says whether it is a pointer.
//
// Source: microsoft-pdb, include/cvinfo.h (TYPE_ENUM_e).
var plainTypes = map[byte]string{
	0x03: "void", 0x08: "HRESULT", 0x10: "signed char", 0x20: "unsigned char", 0x70: "char", 0x71: "wchar_t", 0x7a: "char16_t",
	0x7b: "char32_t", 0x7c: "char8_t", 0x68: "signed char", 0x69: "unsigned char", 0x11: "short", 0x72: "short", 0x21: "unsigned short",
	0x73: "unsigned short", 0x12: "long", 0x22: "unsigned long", 0x74: "int", 0x75: "unsigned int", 0x13: "long long", 0x76: "long long",
	0x23: "unsigned long long", 0x77: "unsigned long long", 0x14: "__int128", 0x78: "__int128", 0x24: "unsigned __int128",
	0x79: "unsigned __int128", 0x46: "__half", 0x40: "float", 0x41: "double", 0x42: "long double", 0x43: "__float128", 0x30: "bool",
	0x31: "bool", 0x32: "bool", 0x33: "bool",
}

const (
	// typeNullptr would be a pointer to nothing.
	typeNullptr = 0x0103
	// firstRecord is the first number of a type that has a record.
	firstRecord = 0x1000
)

// typeWriter writes the names of types. Types may be made of each other without end in a damaged
// file.
type typeWriter struct {
	types *types
	out   strings.Builder
	steps int
	err   error
}

// maxSteps bounds how many types with records one name is made of, and with maxText how long it is.
const maxSteps = 500

// full reports whether a name is as long as one may be.
func (w *typeWriter) full() bool { return w.steps > maxSteps || w.out.Len() > maxText }

// typeWriter makes a writer for one name.
func (f *File) typeWriter() (*typeWriter, error) {
	t, err := f.openTypes(&f.types, streamTPI, "TPI")
	return &typeWriter{types: t}, err
}

// typeName is a type's name.
func (f *File) typeName(number uint32) (string, error) {
	w, err := f.typeWriter()
	if err != nil {
		return "", err
	}
	w.write(number, false)
	return w.out.String(), w.err
}

// parameters are a function type's parameters in parentheses, and whether its object is constant;
// "" for what is not a function type.
func (f *File) parameters(number uint32) (string, error) {
	if number < firstRecord {
		return "", nil
	}
	w, err := f.typeWriter()
	if err != nil {
		return "", err
	}
	if name, ok := w.types.names.of[number]; ok {
		return name, nil
	}
	rec := w.record(number)
	switch u16(rec, 2) {
	case leafProcedure: // 4 what it returns, 8 convention, 10 count, 12 list
		w.list(u32(rec, 12))
	case leafMember: // 4 what it returns, 8 class, 12 this, 16 convention, 18 count, 20 list
		w.list(u32(rec, 20))
		if this := w.record(u32(rec, 12)); u16(this, 2) == leafPointer {
			if to := w.record(u32(this, 4)); u16(to, 2) == leafModifier && u16(to, 8)&1 != 0 {
				w.out.WriteString(" const")
			}
		}
	}
	if w.err != nil {
		return "", f.pass(w.err)
	}
	w.types.names.keep(number, w.out.String())
	return w.out.String(), nil
}

// record is a type's record, or nil. It is nil too in a name that is full.
func (w *typeWriter) record(number uint32) []byte {
	if w.steps++; w.full() || w.err != nil || number < firstRecord {
		return nil
	}
	rec, err := w.types.record(number)
	w.err = err
	return rec
}

// list writes parameters: 4 their count, 8 their types.
// A damaged list may claim more types than its record has bytes for; those that are there are
// written.
func (w *typeWriter) list(number uint32) {
	w.out.WriteByte('(')
	// Numbers from firstRecord on have a record in the TPI stream.
	rec := w.record(number)
	if u16(rec, 2) == leafArgList {
		count := min(int64(u32(rec, 4)), int64(len(rec)-8)/4)
		for i := int64(0); i < count && !w.full(); i++ {
			if i > 0 {
				w.out.WriteString(", ")
			}
			w.write(u32(rec, int(8+i*4)), false)
		}
	}
	w.out.WriteByte(')')
}

// write writes a type. After a pointer "const" follows the type, else it goes before it.
func (w *typeWriter) write(number uint32, behind bool) {
	if number < firstRecord {
		name, ok := plainTypes[byte(number)]
		switch {
		case number == typeNullptr:
			w.out.WriteString("std::nullptr_t")
			return
		case byte(number) == 0: // the type of what follows the named parameters
			name = "..."
		case !ok:
			name = "?"
		}
		w.out.WriteString(name)
		if number>>8 != 0 {
			w.out.WriteByte('*')
		}
		return
	}
	rec := w.record(number)
	if rec == nil {
		w.out.WriteByte('?')
		return
	}
	switch u16(rec, 2) {
	// Example: the target of a pointer is "char const", which gives "char const*"; elsewhere it is
	// "const char".
	case leafModifier: // 4 type, 8 flags
		words, of := modifiers(rec), u32(rec, 4)
		if pointer := of < firstRecord && of>>8 != 0 && of != typeNullptr; behind || pointer {
			w.write(of, true)
			w.out.WriteString(words)
		} else {
			w.out.WriteString(strings.TrimPrefix(words+" ", " "))
			w.write(of, false)
		}
	case leafPointer: // 4 what to, 8 attributes, 12 of what class
		w.pointer(rec)
	case leafProcedure:
		w.write(u32(rec, 4), false)
		w.out.WriteString(" ")
		w.list(u32(rec, 12))
	case leafMember:
		w.write(u32(rec, 4), false)
		w.out.WriteString(" ")
		w.list(u32(rec, 20))
	case leafArray: // 4 of what, 8 index, 12 size in bytes
		w.write(u32(rec, 4), behind)
		w.out.WriteByte('[')
		if size, each := numberAt(rec, 12), w.size(u32(rec, 4)); each > 0 && size > 0 {
			fmt.Fprint(&w.out, size/each)
		}
		w.out.WriteByte(']')
	case leafClass, leafStructure, leafInterface: // 4 count, 6 properties, 8 fields, 12 derived from, 16 virtual, 20 size, name
		w.out.WriteString(zeroEnded(pastNumber(rec, 20)))
	case leafUnion: // 4 count, 6 properties, 8 fields, 12 size, name
		w.out.WriteString(zeroEnded(pastNumber(rec, 12)))
	case leafEnum: // 4 count, 6 properties, 8 of what, 12 fields, 16 name
		w.out.WriteString(zeroEnded(rec[min(16, len(rec)):]))
	default:
		w.out.WriteByte('?')
	}
}

// pointer writes pointers and references. One to a function goes into the function's type: "int
// (*)(char)".
func (w *typeWriter) pointer(rec []byte) {
	// The attributes: bits 0-4 kind of pointer, 5-7 mode (1 reference, 2 and 3 to members, 4 rvalue
	// reference), 9 volatile, 10 const, 13-18 size.
	//
	// A chain of pointers is read from the outside in, and written from the inside out: for int*&,
	// the reference is read first, and signs grows to the left to "*&".
	const isConst, isVolatile = 1 << 10, 1 << 9
	signs := ""
	for {
		attributes := u32(rec, 8)
		mode := attributes >> 5 & 7
		sign := "*"
		switch mode {
		case 1:
			sign = "&"
		case 4:
			sign = "&&"
		}
		if attributes&isConst != 0 {
			sign += " const"
		}
		if attributes&isVolatile != 0 {
			sign += " volatile"
		}
		signs = sign + signs
		to := u32(rec, 4)
		target := w.record(to)
		words := ""
		if u16(target, 2) == leafModifier { // of a pointer: it belongs to that pointer's sign
			if inner := w.record(u32(target, 4)); u16(inner, 2) == leafPointer {
				words, target = modifiers(target), inner
			}
		}
		switch kind := u16(target, 2); {
		case kind == leafPointer && mode != 2:
			signs, rec = words+signs, target
		case kind == leafProcedure || kind == leafMember:
			w.write(u32(target, 4), false)
			w.out.WriteString(" (")
			list := 12
			if kind == leafMember {
				w.write(u32(target, 8), false)
				w.out.WriteString("::")
				list = 20
			}
			w.out.WriteString(signs + ")")
			w.list(u32(target, list))
			return
		case mode == 2: // to a member of a class
			w.write(to, true)
			w.out.WriteByte(' ')
			w.write(u32(rec, 12), false)
			w.out.WriteString("::" + signs)
			return
		default:
			w.write(to, true)
			w.out.WriteString(signs)
			return
		}
	}
}

// modifiers are a modified type's words, each with a blank before it.
func modifiers(rec []byte) (words string) {
	for i, word := range []string{" const", " volatile", " __unaligned"} {
		if u16(rec, 8)&(1<<i) != 0 {
			words += word
		}
	}
	return words
}

// plainSizes are the sizes in bytes of the types that have no records, by the low byte of their
// number; pointers to them have sizes by the byte above.
var (
	plainSizes = map[byte]uint64{
		0x08: 4, 0x10: 1, 0x20: 1, 0x70: 1, 0x71: 2, 0x7a: 2, 0x7b: 4, 0x7c: 1, 0x68: 1, 0x69: 1, 0x11: 2, 0x72: 2, 0x21: 2, 0x73: 2, 0x12: 4, 0x22: 4,
		0x74: 4, 0x75: 4, 0x13: 8, 0x76: 8, 0x23: 8, 0x77: 8, 0x14: 16, 0x78: 16, 0x24: 16, 0x79: 16, 0x46: 2, 0x40: 4, 0x41: 8, 0x42: 10, 0x43: 16,
		0x30: 1, 0x31: 2, 0x32: 4, 0x33: 8,
	}
	// Modes of pointers: near, far and huge 16-bit; near and far 32-bit; 64-bit; 128-bit.
	pointerSizes = map[uint32]uint64{1: 2, 2: 4, 3: 4, 4: 4, 5: 6, 6: 8, 7: 16}
)

// size is a type's size in bytes, 0 if it is not known.
func (w *typeWriter) size(number uint32) uint64 {
	if number < firstRecord {
		if number>>8 != 0 {
			return pointerSizes[number>>8&7]
		}
		return plainSizes[byte(number)]
	}
	rec := w.record(number)
	switch u16(rec, 2) {
	case leafModifier, leafEnum:
		off := 4
		if u16(rec, 2) == leafEnum {
			off = 8
		}
		return w.size(u32(rec, off))
	case leafPointer: // bits 13 to 18 of the attributes
		return uint64(u32(rec, 8) >> 13 & 0x3f)
	case leafArray, leafUnion:
		return numberAt(rec, 12)
	case leafClass, leafStructure, leafInterface:
		return numberAt(rec, 20)
	}
	return 0
}

// numberForms are the sizes in bytes of numbers that follow their form (LF_CHAR, LF_SHORT, LF_USHORT,
// LF_LONG, LF_ULONG, LF_QUADWORD, LF_UQUADWORD). A form below 0x8000 is the number itself.
var numberForms = map[uint16]int{0x8000: 1, 0x8001: 2, 0x8002: 2, 0x8003: 4, 0x8004: 4, 0x8009: 8, 0x800a: 8}

// numberAt is the number at an offset of a record, which is not negative; 0 for one that is cut off or
// of an unknown form.
func numberAt(rec []byte, off int) uint64 {
	form := u16(rec, off)
	if form < 0x8000 {
		return uint64(form)
	}
	var b [8]byte
	if size := numberForms[form]; off+2+size <= len(rec) {
		copy(b[:], rec[off+2:][:size])
	}
	return binary.LittleEndian.Uint64(b[:])
}

// pastNumber is what follows a number in a record.
func pastNumber(rec []byte, off int) []byte {
	return rec[min(off+2+numberForms[u16(rec, off)], len(rec)):]
}
