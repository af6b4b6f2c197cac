package jsonwriter

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a JSON value that Parse made. The zero Value is null.
type Value struct {
	// v is of type text, token, []Value or map[string]Value.
	v any
}

type (
	text  string // a string, without its escapes; valid UTF-8
	token string // a number, true, false or null, as written
)

// maxDepth limits the nesting of lists and objects. rust-minidump's reader has the same limit.
const maxDepth = 128

// Parse parses a whole JSON text (RFC 8259). It returns false for invalid JSON, for numbers out of
// the range of float64, for lone surrogates, and for nesting deeper than 128 levels. Of members
// with the same name the last counts. encoding/json would add more to the page's program than this
// whole package.
//
// It is for JSON in dumps: streams of JSON, such as Mozilla's soft errors. The limits are those of
// serde_json, so that such a stream is in the report if rust-minidump has it.
func Parse(s string) (Value, bool) {
	r := reader{s}
	v, ok := r.value(0)
	r.blanks()
	return v, ok && r.s == ""
}

// Object returns the members of an object, or nil for another value.
func (v Value) Object() map[string]Value {
	object, _ := v.v.(map[string]Value)
	return object
}

// List returns the elements of a list, or nil for another value.
func (v Value) List() []Value {
	list, _ := v.v.([]Value)
	return list
}

// Text returns a string, or a number, true or false as written. It is "" for another value.
func (v Value) Text() string {
	switch v := v.v.(type) {
	case text:
		return string(v)
	case token:
		if v != "null" {
			return string(v)
		}
	}
	return ""
}

// Put writes a Value, with the keys of its objects sorted.
func (w *Writer) Put(v Value) {
	switch v := v.v.(type) {
	case text:
		w.PutString(string(v))
	case token:
		w.value()
		w.text(string(v))
	case []Value:
		w.PutList(len(v), func(i int) { w.Put(v[i]) })
	case map[string]Value:
		w.PutObject(func() {
			for _, k := range slices.Sorted(maps.Keys(v)) {
				w.Key(k)
				w.Put(v[k])
			}
		})
	default: // the zero Value
		w.PutNull()
	}
}

// reader parses a text from its start; s is what has not been read.
type reader struct{ s string }

func (j *reader) blanks() { j.s = strings.TrimLeft(j.s, " \t\r\n") }

// take skips white space, and reads the byte c if it is next.
func (j *reader) take(c byte) bool {
	j.blanks()
	if j.s == "" || j.s[0] != c {
		return false
	}
	j.s = j.s[1:]
	return true
}

// value reads a value. depth is how many lists and objects are around it.
func (j *reader) value(depth int) (Value, bool) {
	j.blanks()
	if j.s == "" || depth > maxDepth {
		return Value{}, false
	}
	switch j.s[0] {
	case '"':
		s, ok := j.text()
		return Value{text(s)}, ok
	case '[':
		return j.array(depth)
	case '{':
		return j.object(depth)
	}
	return j.token()
}

// array reads a list.
func (j *reader) array(depth int) (Value, bool) {
	j.take('[')
	list := []Value{}
	if j.take(']') {
		return Value{list}, true
	}
	for {
		v, ok := j.value(depth + 1)
		if !ok {
			return Value{}, false
		}
		list = append(list, v)
		if j.take(']') {
			return Value{list}, true
		}
		if !j.take(',') {
			return Value{}, false
		}
	}
}

// object reads an object. Of members with one key the last counts.
func (j *reader) object(depth int) (Value, bool) {
	j.take('{')
	object := map[string]Value{}
	if j.take('}') {
		return Value{object}, true
	}
	for {
		j.blanks()
		k, ok := j.text()
		if !ok || !j.take(':') {
			return Value{}, false
		}
		if object[k], ok = j.value(depth + 1); !ok {
			return Value{}, false
		}
		if j.take('}') {
			return Value{object}, true
		}
		if !j.take(',') {
			return Value{}, false
		}
	}
}

// token reads true, false, null or a number, which stays as written.
//
// A number stays as written, so that 1e2 or 0.10 or a number of 20 digits does not change in the
// output.
func (j *reader) token() (Value, bool) {
	n := 0
	for n < len(j.s) && strings.IndexByte(" \t\r\n,]}", j.s[n]) < 0 {
		n++
	}
	t := j.s[:n]
	j.s = j.s[n:]
	if t == "true" || t == "false" || t == "null" {
		return Value{token(t)}, true
	}
	// ParseFloat accepts every number of RFC 8259, section 6, and some others, which are excluded
	// here.
	digits := strings.TrimPrefix(t, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' ||
		strings.ContainsAny(t, "xXpP_") || strings.HasSuffix(t, ".") || strings.Contains(t, ".e") || strings.Contains(t, ".E") {
		return Value{}, false
	}
	_, err := strconv.ParseFloat(t, 64)
	return Value{token(t)}, err == nil
}

// text reads a string. It replaces invalid UTF-8 here, and not when writing, so that two keys
// cannot become equal then.
func (j *reader) text() (string, bool) {
	if j.s == "" || j.s[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(j.s); i++ {
		c := j.s[i]
		switch {
		case c == '"':
			j.s = j.s[i+1:]
			return strings.ToValidUTF8(b.String(), "\uFFFD"), true
		case c < 0x20:
			return "", false
		case c != '\\':
			b.WriteByte(c)
		default:
			n, r, ok := escape(j.s[i:])
			if !ok {
				return "", false
			}
			b.WriteRune(r)
			i += n - 1
		}
	}
	return "", false
}

// escape decodes an escape sequence and returns its length in bytes.
//
//	\n            2    newline
//	\u00e9        6    é
//	\ud83d\ude00  12   U+1F600: two units of UTF-16
//	\ud83d        0    a half of a pair alone: an error
func escape(s string) (n int, r rune, ok bool) {
	if len(s) < 2 {
		return 0, 0, false
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return 2, rune("\"\\/\b\f\n\r\t"[i]), true
	}
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(v), err == nil
	}
	r, ok = unit(s)
	if !ok || r < 0xd800 || r > 0xdfff {
		return 6, r, ok
	}
	// A surrogate pair.
	low, ok := unit(s[6:])
	if !ok || r >= 0xdc00 || low < 0xdc00 || low > 0xdfff {
		return 0, utf8.RuneError, false
	}
	return 12, 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), true
}
