package jsonreport

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *printer) handles() {
	if !p.r.HasHandles {
		p.null("handles")
		return
	}
	p.list("handles", len(p.r.Handles), func(i int) {
		h := &p.r.Handles[i]
		p.member(func() {
			p.uint("handle", h.Handle)
			p.strOrNull("object_name", h.Name)
			p.strOrNull("type_name", h.Type)
		})
	})
}

// procLimits is in the order of /proc/PID/limits; rust-minidump's order changes from run to run.
func (p *printer) procLimits() {
	if !p.r.HasLimits {
		p.null("proc_limits")
		return
	}
	value := func(k string, v *uint64) {
		if v == nil {
			p.str(k, "unlimited")
		} else {
			p.uint(k, *v)
		}
	}
	p.object("proc_limits", func() {
		p.list("limits", len(p.r.Limits), func(i int) {
			l := &p.r.Limits[i]
			p.member(func() {
				value("hard", l.Hard)
				p.str("name", l.Name)
				value("soft", l.Soft)
				if l.Unit != "" {
					p.str("unit", l.Unit)
				} else {
					p.str("unit", "n/a")
				}
			})
		})
	})
}

func (p *printer) macCrashInfo() {
	if !p.r.HasMacCrashInfo {
		p.null("mac_crash_info")
		return
	}
	number := func(k string, v uint64) {
		if v == 0 {
			p.null(k)
		} else {
			p.hex(k, v)
		}
	}
	p.object("mac_crash_info", func() {
		p.int("num_records", int64(len(p.r.MacCrashInfo)))
		p.list("records", len(p.r.MacCrashInfo), func(i int) {
			m := &p.r.MacCrashInfo[i]
			p.member(func() {
				number("abort_cause", m.AbortCause)
				p.strOrNull("backtrace", m.Backtrace)
				number("dialog_mode", m.DialogMode)
				p.strOrNull("message", m.Message)
				p.strOrNull("message2", m.Message2)
				p.strOrNull("module", m.Module)
				p.strOrNull("signature_string", m.Signature)
				number("thread", m.Thread)
			})
		})
	})
}

func (p *printer) macBootArgs() {
	if p.r.MacBootArgs == nil {
		p.null("mac_boot_args")
		return
	}
	p.str("mac_boot_args", *p.r.MacBootArgs)
}

// softErrors passes on the JSON of the dump, with the keys of its objects in order as in all of this output; null if it is not JSON.
func (p *printer) softErrors() {
	v, ok := parseJSON(p.r.SoftErrors)
	if !ok {
		p.null("soft_errors")
		return
	}
	p.key("soft_errors")
	p.value(v)
}

// value writes what parseJSON has read.
func (p *printer) value(v any) {
	switch v := v.(type) {
	case jsonText:
		p.quote(string(v))
	case jsonToken:
		p.b.text(string(v))
	case []any:
		p.items(len(v), func(i int) { p.value(v[i]) })
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		p.member(func() {
			for _, k := range keys {
				p.key(k)
				p.value(v[k])
			}
		})
	}
}

type (
	jsonText  string // a string, without its escapes
	jsonToken string // a number, true, false or null, as it stands
)

// maxJSONDepth bounds the nesting of lists and objects; rust-minidump's reader has the same limit.
const maxJSONDepth = 128

// parseJSON reads a whole JSON text (RFC 8259) into jsonText, jsonToken, []any and map[string]any. encoding/json would do it, and cost
// the page more than all of this package.
func parseJSON(s string) (v any, ok bool) {
	j := jsonReader{s: s}
	v, ok = j.value(0)
	j.blanks()
	return v, ok && j.s == ""
}

type jsonReader struct{ s string }

func (j *jsonReader) blanks() { j.s = strings.TrimLeft(j.s, " \t\r\n") }

// eat takes a byte, behind blanks, if it is the next.
func (j *jsonReader) eat(c byte) bool {
	j.blanks()
	if j.s == "" || j.s[0] != c {
		return false
	}
	j.s = j.s[1:]
	return true
}

func (j *jsonReader) value(depth int) (any, bool) {
	j.blanks()
	if j.s == "" || depth > maxJSONDepth {
		return nil, false
	}
	switch j.s[0] {
	case '"':
		s, ok := j.text()
		return jsonText(s), ok
	case '[':
		return j.array(depth)
	case '{':
		return j.object(depth)
	}
	return j.token()
}

func (j *jsonReader) array(depth int) (any, bool) {
	j.eat('[')
	list := []any{}
	if j.eat(']') {
		return list, true
	}
	for {
		v, ok := j.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if j.eat(']') {
			return list, true
		}
		if !j.eat(',') {
			return nil, false
		}
	}
}

func (j *jsonReader) object(depth int) (any, bool) {
	j.eat('{')
	object := map[string]any{}
	if j.eat('}') {
		return object, true
	}
	for {
		j.blanks()
		k, ok := j.text()
		if !ok || !j.eat(':') {
			return nil, false
		}
		if object[k], ok = j.value(depth + 1); !ok {
			return nil, false
		}
		if j.eat('}') {
			return object, true
		}
		if !j.eat(',') {
			return nil, false
		}
	}
}

// token reads a word or a number. Numbers stay as they are written.
func (j *jsonReader) token() (any, bool) {
	n := 0
	for n < len(j.s) && strings.IndexByte(" \t\r\n,]}", j.s[n]) < 0 {
		n++
	}
	t := j.s[:n]
	j.s = j.s[n:]
	if t == "true" || t == "false" || t == "null" {
		return jsonToken(t), true
	}
	digits := strings.TrimPrefix(t, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' ||
		strings.ContainsAny(t, "xXpP_") || strings.HasSuffix(t, ".") || strings.Contains(t, ".e") || strings.Contains(t, ".E") {
		return nil, false
	}
	_, err := strconv.ParseFloat(t, 64)
	return jsonToken(t), err == nil
}

// text reads a string.
func (j *jsonReader) text() (string, bool) {
	if j.s == "" || j.s[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(j.s); i++ {
		c := j.s[i]
		switch {
		case c == '"':
			j.s = j.s[i+1:]
			return b.String(), true
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

// escape reads a character after a backslash, and how long it is.
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
	// Two halves of a character beyond U+FFFF.
	low, ok := unit(s[6:])
	if !ok || r >= 0xdc00 || low < 0xdc00 || low > 0xdfff {
		return 0, utf8.RuneError, false
	}
	return 12, 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), true
}
