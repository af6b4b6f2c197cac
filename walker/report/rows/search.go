package rows

import "strings"

// Query normalizes a text to search for, as Holds needs it: lower case, addresses without leading
// zeros and without WinDbg's backtick.
//
//	0x00007FF6`1234ABCD    0x7ff61234abcd
//	libfoo.so +0x12        libfoo.so+0x12      as the stack's cells and the copied text have it
//	0x00                   0x0
func Query(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.ReplaceAll(strings.ReplaceAll(s, "`", ""), " +0x", "+0x") // "00007ff6`1234abcd"; "libfoo.so +0x12"
	if hex, ok := strings.CutPrefix(s, "0x"); ok && len(hex) > 1 {
		s = "0x" + strings.TrimLeft(hex[:len(hex)-1], "0") + hex[len(hex)-1:]
	}
	return s
}

// Holds reports whether one of the texts contains a Query. The Query 0x7f75 also matches an address
// with leading zeros.
func Holds(query string, texts ...string) bool {
	if query == "" {
		return false
	}
	for _, s := range texts {
		s = strings.ToLower(s)
		if strings.Contains(s, query) {
			return true
		}
		// Compare what follows the zeros of "0x00007f75".
		if digits, ok := strings.CutPrefix(query, "0x"); ok {
			for at := strings.Index(s, "0x0"); at >= 0; {
				s = strings.TrimLeft(s[at+2:], "0")
				if strings.HasPrefix(s, digits) {
					return true
				}
				at = strings.Index(s, "0x0")
			}
		}
	}
	return false
}

// Hit is a match of a search: a thread (Frame is -1), a row of a stack, or a row of a tab of the
// lower panel. Without a thread (-1) and a tab it is the verdict.
type Hit struct {
	Thread, Frame, Inline int
	Tab                   string
	Row                   int // of the tab's list; for "modules" the module's index
}
