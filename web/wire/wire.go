// Package wire encodes the messages between the page and its worker. Both run the same program, so
// a message needs neither names nor a version: a struct is its fields in order, a number a varint,
// a text or a list its length and then its elements. The package is a tenth of encoding/json in
// size, and decodes in a tenth of the time, which matters on the page's thread.
//
// It encodes structs, pointers, slices, strings, booleans and integers. Other types are a mistake
// in the program, and panic.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// Append appends an encoded value to b.
func Append(b []byte, v any) []byte { return AppendWith(b, v, nil) }

// AppendWith is Append with a function that replaces each text, if it is not nil.
func AppendWith(b []byte, v any, text func(string) string) []byte {
	return encode(b, reflect.ValueOf(v), text)
}

// encode appends a value. Its cases and those of decode must match.
func encode(b []byte, v reflect.Value, text func(string) string) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		s := v.String()
		if text != nil {
			s = text(s)
		}
		b = binary.AppendUvarint(b, uint64(len(s)))
		return append(b, s...)
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := range v.Len() {
			b = encode(b, v.Index(i), text)
		}
		return b
	case reflect.Pointer: // 0 for nil, 1 before the value
		if v.IsNil() {
			return append(b, 0)
		}
		return encode(append(b, 1), v.Elem(), text)
	case reflect.Struct:
		for i := range v.NumField() {
			b = encode(b, v.Field(i), text)
		}
		return b
	}
	panic("wire: cannot write " + v.Type().String())
}

// ErrCut means that a message is truncated, has an impossible length, or has bytes left over.
var ErrCut = errors.New("a message is damaged")

// Read decodes a message into the value that to points to. No content of a message makes it panic.
func Read(b []byte, to any) error {
	rest, err := ReadNext(b, to)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes too many", ErrCut, len(rest))
	}
	return err
}

// ReadNext is Read for the first of several values, and returns the rest of the message.
func ReadNext(b []byte, to any) (rest []byte, err error) {
	d := decoder{b: b}
	d.decode(reflect.ValueOf(to).Elem())
	return d.b, d.err
}

// decoder reads from b. Its first error stays, so decode need not check each read.
type decoder struct {
	b   []byte
	err error
}

// fail sets the error and drops the rest of the message, so that all further reads fail too.
func (d *decoder) fail() uint64 {
	if d.err == nil {
		d.err = ErrCut
	}
	d.b = nil
	return 0
}

func (d *decoder) number() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		return d.fail()
	}
	d.b = d.b[n:]
	return x
}

// length reads the length of a text or a list. Each element takes at least one byte, so a length
// larger than the rest of the message is an error, and cannot make decode allocate too much.
func (d *decoder) length() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		return int(d.fail())
	}
	return int(n)
}

// decode reads a value. Its cases and those of encode must match.
func (d *decoder) decode(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.number() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(d.b)
		if n <= 0 {
			d.fail()
			return
		}
		d.b = d.b[n:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(d.number())
	case reflect.String:
		n := d.length()
		v.SetString(string(d.b[:n]))
		d.b = d.b[n:]
	case reflect.Slice:
		n := d.length()
		v.SetZero()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n && d.err == nil; i++ {
			d.decode(v.Index(i))
		}
	case reflect.Pointer:
		if d.number() == 0 {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(v.Elem())
	case reflect.Struct:
		for i := 0; i < v.NumField() && d.err == nil; i++ {
			d.decode(v.Field(i))
		}
	default:
		panic("wire: cannot read " + v.Type().String())
	}
}
