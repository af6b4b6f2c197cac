package dumptext

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unicode"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// fieldName returns the printed name of a Go field: stack_start for StackStart, teb for TEB,
// thread_id for ThreadID.
func fieldName(s string) string {
	if n := fieldNames[s]; n != "" {
		return n
	}
	var b strings.Builder
	r := []rune(s)
	for i, c := range r {
		if i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// maxDepth limits nesting. core's types have four levels.
const maxDepth = 16

// any prints a value of any type. goName is the Go name of its field, by which the tables of
// forms.go find its meaning, or "".
func (w *walk) any(name string, v reflect.Value, goName string) { w.anyAt(name, v, goName, 0) }

// anyAt is any at a depth. A nil pointer, interface or slice is left out, because the dump does not
// have it.
func (w *walk) anyAt(name string, v reflect.Value, goName string, depth int) {
	if !v.IsValid() || depth > maxDepth {
		return
	}
	if w.special(name, v, goName) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.anyAt(name, v.Elem(), goName, depth+1)
		}
	case reflect.Struct:
		w.open(name, false)
		w.fields(v, depth)
		w.close()
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return
		}
		// Bytes are printed as one hexadecimal text.
		if v.Type().Elem().Kind() == reflect.Uint8 {
			raw := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(raw), v)
			w.value(name, plain(hex.EncodeToString(raw)))
			return
		}
		w.open(name, true)
		for i := range v.Len() {
			w.anyAt("", v.Index(i), goName, depth+1)
		}
		w.close()
	case reflect.Map:
		// Sorted, so that the output is the same each time.
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
		w.open(name, false)
		for _, k := range keys {
			w.anyAt(mapKey(fmt.Sprint(k)), v.MapIndex(k), goName, depth+1)
		}
		w.close()
	default:
		w.value(name, fieldValue(goName, v))
	}
}

// mapKey returns a map's key as a name: characters that could break a line or look like "=" become
// "_".
func mapKey(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == ' ' || r == '=' {
			return '_'
		}
		return r
	}, s)
}

// fields prints the exported fields of a struct that the dump has.
func (w *walk) fields(v reflect.Value, depth int) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if w.hidden(v, i) {
			continue
		}
		name, ok := w.names[f.Name]
		if !ok {
			name = fieldName(f.Name)
			w.names[f.Name] = name
		}
		w.anyAt(name, v.Field(i), f.Name, depth+1)
	}
	w.methodValues(v)
}

// hidden reports whether field i of a struct is not printed.
func (w *walk) hidden(v reflect.Value, i int) bool {
	t := v.Type()
	f := t.Field(i)
	isCore := w.d.Registers != nil
	some := (isCore || w.d.Micro != nil) && minidumps[t.Name()] || isCore && unlikeCores[t.Name()]
	return !f.IsExported() || notPrinted[t.Name()+"."+f.Name] || absent(v, t.Name(), f.Name) || some && v.Field(i).IsZero() || isCore && notInCores[t.Name()+"."+f.Name]
}

// absent reports whether the dump lacks a field, by another field of the struct or by its value.
func absent(v reflect.Value, typ, field string) bool {
	f := v.FieldByName(field)
	switch f.Kind() {
	case reflect.Struct:
		// An empty location or debug record.
		if f.IsZero() && typ != "Stream" {
			return true
		}
	case reflect.String:
		if omitIfEmpty[typ+"."+field] && f.Len() == 0 {
			return true
		}
	}
	if only := recordFields[field]; only != 0 && typ == "CodeView" && v.FieldByName("Signature").Uint() != only {
		return true
	}
	has := onlyIf[typ+"."+field]
	if has == "" {
		return false
	}
	h := v.FieldByName(has)
	return h.IsValid() && h.Kind() == reflect.Bool && !h.Bool()
}

// special prints values of types with a format of their own, and returns false for other types.
//
// It prints nothing for *input.Source and *core.Memory: the sections of the streams print their
// bytes. Unexported fields cannot be read by reflection and are left out.
func (w *walk) special(name string, v reflect.Value, goName string) bool {
	if !v.CanInterface() {
		return true
	}
	switch x := v.Interface().(type) {
	case *input.Source:
	case *core.Memory:
	case binary.ByteOrder:
		w.value(name, plain(orderName(x)))
	case *input.FormatError:
		if x != nil {
			w.value(name, quoted(x.Error()))
		}
	case core.StreamType:
		w.value(name, hexadecimal(uint64(x), 0).with("name", cmp.Or(x.Name(), "unknown")))
	case core.Severity:
		w.value(name, plain([]string{"note", "warning", "error"}[min(int(x), 2)]))
	case core.OS:
		w.value(name, plain(cmp.Or(osNames[x], "unknown")))
	case core.Location:
		w.location(name, x, goName)
	case interface{ Words() []string }:
		if !v.CanUint() {
			return false
		}
		s := hexadecimal(v.Uint(), 0)
		s.remarkName, s.remarks = "names", append([]string{}, x.Words()...)
		w.value(name, s)
	case core.KeyValue:
		w.open(name, false)
		w.value(mapKey(cmp.Or(x.Key, "_")), quoted(x.Value))
		w.close()
	default:
		return false
	}
	return true
}

// orderName returns the name of a byte order.
func orderName(o binary.ByteOrder) string {
	if o == binary.ByteOrder(binary.BigEndian) {
		return "big-endian"
	}
	return "little-endian"
}
