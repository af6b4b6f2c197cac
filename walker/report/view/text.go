package view

import "strings"

// upperFirst returns a text with its first letter in upper case, if that is one of ASCII.
func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lastParts shortens a name to its last two parts, for a narrow column.
//
//	mozilla::dom::Element::SetAttribute    Element::SetAttribute
func lastParts(s string) string {
	depth, seen := 0, 0
	for i := len(s) - 1; i > 0; i-- {
		switch s[i] {
		case '>', ')', '}':
			depth++
		case '<', '(', '{':
			depth--
		case ':':
			if depth == 0 && s[i-1] == ':' {
				if seen++; seen == 2 {
					return s[i+1:]
				}
				i--
			}
		}
	}
	return s
}
