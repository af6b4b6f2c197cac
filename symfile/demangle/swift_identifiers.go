package demangle

import (
	"strconv"
	"strings"
)

// identifier reads a name: its length and its bytes; after a 0 also words of earlier names, a letter
// each, the last one in upper case; after 00 it is in Punycode.
func (s *swiftParser) identifier() *swiftNode {
	encoded := s.accept("00")
	words := !encoded && s.accept("0")
	var out strings.Builder
	for more := true; more && !s.failed; more = words {
		for c := s.peek(); words && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'); c = s.peek() {
			s.at++
			n := int(c|0x20) - 'a'
			if n >= len(s.words) {
				return nil
			}
			words = c >= 'a'
			s.draw(len(s.words[n]))
			out.WriteString(s.words[n])
		}
		if s.accept("0") {
			break
		}
		n := s.natural()
		if encoded {
			s.accept("_")
		}
		if s.failed || n <= 0 || n > len(s.in)-s.at {
			return nil
		}
		part := s.in[s.at : s.at+n]
		s.at += n
		if encoded {
			text, ok := swiftPunycode(part)
			if !ok {
				return nil
			}
			out.WriteString(text)
			continue
		}
		out.WriteString(part)
		s.addWords(part)
	}
	if out.Len() == 0 || s.failed {
		return nil
	}
	return s.sub(s.node(swiftIdentifier, out.String()))
}

// addWords keeps the words of a name, as far as there are letters for them: they begin with no digit
// and end before an underscore and an upper-case letter.
func (s *swiftParser) addWords(name string) {
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	start := -1
	for i := 0; i <= len(name); i++ {
		c := byte(0)
		if i < len(name) {
			c = name[i]
		}
		if start >= 0 && (c == '_' || c == 0 || upper(c) && !upper(name[i-1])) {
			if i-start >= 2 && len(s.words) < 26 {
				s.words = append(s.words, name[start:i])
			}
			start = -1
		}
		if start < 0 && c != 0 && c != '_' && (c < '0' || c > '9') {
			start = i
		}
	}
}

// swiftPunycode decodes Swift's form of Punycode, which has the digits A to J where Rust's has 0 to 9,
// and writes ASCII characters that symbols cannot have as those from 0xd800 on.
func swiftPunycode(s string) (string, bool) {
	head, tail := "", s
	if at := strings.LastIndexByte(s, '_'); at >= 0 {
		head, tail = s[:at+1], s[at+1:]
	}
	digits := []byte(tail)
	for i, c := range digits {
		switch {
		case c >= 'A' && c <= 'J':
			digits[i] = c - 'A' + '0'
		case c < 'a' || c > 'z':
			return "", false
		}
	}
	return decodePunycode(head+string(digits), 0xd800)
}

// operatorName makes an operator of the letters of an identifier.
func (s *swiftParser) operatorName() *swiftNode {
	const letters = "& @/= >    <*!|+?%-~   ^ ."
	name := s.pop(swiftIdentifier)
	if name == nil {
		return nil
	}
	op := []byte(name.text)
	for i, c := range op {
		if c >= 0x80 {
			continue
		}
		if c < 'a' || c > 'z' || letters[c-'a'] == ' ' {
			return nil
		}
		op[i] = letters[c-'a']
	}
	where := swiftPick("|i= infix|p= prefix|P= postfix|", s.next())
	if where == "" {
		return nil
	}
	return s.node(swiftNamed, "$0"+where, s.node(swiftIdentifier, string(op)))
}

// localName reads what follows "L": names that need more than themselves.
func (s *swiftParser) localName() *swiftNode {
	switch c := s.peek(); {
	case s.accept("L"):
		file := s.pop(swiftIdentifier)
		return s.node(swiftPrivate, "($1 in $0)", file, s.pop(swiftDeclName))
	case s.accept("l"):
		return s.node(swiftPrivate, "(in $0)", s.pop(swiftIdentifier))
	case c >= 'a' && c <= 'j' || c >= 'A' && c <= 'J':
		s.at++
		return s.node(swiftNamed, "related decl '"+string(rune(c))+"' for $0", s.pop(swiftAny))
	}
	n := s.number()
	return s.node(swiftLocal, "$0 #"+strconv.Itoa(n+1), s.pop(swiftDeclName))
}
