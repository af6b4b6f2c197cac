package state

import (
	"strings"

	"github.com/crashpane/crashpane/web/app/words"
)

// The state's address is a query string as net/url writes it. That package would add 15 KB to the
// page's program, for other parts of addresses.

// setQuery adds "key=value".
func setQuery(b *strings.Builder, key, value string) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(key)
	b.WriteByte('=')
	b.WriteString(strings.ReplaceAll(words.Escape(value, "-_.~ "), " ", "+"))
}

// parseQuery reads a query string; ok is false if an escape is invalid. Of several values of a key,
// the first counts.
func parseQuery(s string) (values map[string]string, ok bool) {
	out := map[string]string{}
	for _, part := range strings.Split(s, "&") {
		k, v, _ := strings.Cut(part, "=")
		key, ok := unescape(k)
		value, ok2 := unescape(v)
		if !ok || !ok2 {
			return nil, false
		}
		if _, twice := out[key]; !twice {
			out[key] = value
		}
	}
	return out, true
}

// unescape replaces %XX and + (RFC 1866, section 8.2.1).
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			b.WriteByte(' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := digit(s[i+1]), digit(s[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			b.WriteByte(byte(hi<<4 | lo))
			i += 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// digit returns the value of a hexadecimal digit, or -1.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
