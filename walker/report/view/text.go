package view

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
