package signature

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Word returns a frame's word in a signature: its function without return type, arguments and
// template arguments, else its source line, module or address.
//
//	static void* A<int>::c(int)    A<T>::c
//	no function, a.cc line 12      a.cc#12
//	only a module                  libfoo.so
func (f *Frame) Word(lists Lists) string {
	switch {
	case f.Function != "":
		if lists == Own {
			return f.ownWord()
		}
		if isRustFile(f.File) {
			return finish(normalizeRust(f.Function), f, lists)
		}
		return finish(normalizeCPP(f.Function), f, lists)
	case f.File != "" && f.Line != 0:
		file := strings.TrimRight(f.File, `/\`)
		return file[strings.LastIndexAny(file, `/\`)+1:] + "#" + strconv.FormatUint(uint64(f.Line), 10)
	case f.Module != "":
		return strings.Trim(f.Module, "[]")
	case f.Unloaded != "":
		return "(unloaded " + f.Unloaded + ")"
	}
	return "@0x" + strconv.FormatUint(f.Offset, 16)
}

// ownWord returns the word of a function for the project's own lists.
func (f *Frame) ownWord() string {
	name := withoutSuffixes(f.Function)
	switch {
	case isRustFile(f.File) || f.Language == LanguageRust:
		name = normalizeRust(name)
	case isGo(f):
	case isSwift(f):
		name = normalizeSwift(name)
	default:
		hidden, operators := hideOperators(name)
		name = normalizeCPP(hidden)
		for i, o := range operators {
			name = strings.ReplaceAll(name, string(operatorMark+rune(i)), o)
		}
	}
	return strings.TrimSpace(finish(name, f, Own))
}

// isGo reports whether a function is one of Go, whose names have no parameters and no return types, but
// types of receivers in parentheses: "sync.(*Mutex).Unlock".
func isGo(f *Frame) bool {
	return strings.HasSuffix(f.File, ".go") || strings.Contains(f.Function, ".(*") && !strings.Contains(f.Function, "::")
}

// withoutSuffixes removes what compilers and writers of symbol files append to the name of a part or a
// copy of a function: "f(int) [clone .cold.1]", "f() [97751]", "f(int) (.part.0)".
func withoutSuffixes(name string) string {
	for {
		at := -1
		switch {
		case strings.HasSuffix(name, "]"):
			at = strings.LastIndex(name, " [")
		case strings.HasSuffix(name, ")"):
			at = strings.LastIndex(name, " (.")
		}
		if at < 0 || strings.Contains(name[at:], " [") && strings.Contains(name[at:], " (.") {
			return name
		}
		if in := name[at+2 : len(name)-1]; strings.Trim(in, "0123456789") != "" && (in[0] != '.' && !strings.HasPrefix(in, "clone ") || strings.Contains(in, ")")) {
			return name
		}
		name = name[:at]
	}
}

// operators are C++'s whose names have characters that are delimiters elsewhere, the longest first.
var operators = []string{" new[]", " delete[]", "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">", "&&", "&=", "&", "*=", "*", ","}

// operatorMark is the first of the characters for hidden operators: of the private use area of Unicode.
const operatorMark, operatorMarks = '\uE000', 0x1900

// hideOperators replaces the names of C++'s operators by one character each, with the spaces after them,
// and returns them.
//
//	std::ostream& app::A::operator<< <int>(int) const    std::ostream& app::A::\uE000<int>(int) const
func hideOperators(name string) (hidden string, found []string) {
	const word = "operator"
	var b strings.Builder
	for len(found) < operatorMarks {
		at := strings.Index(name, word)
		if at < 0 {
			break
		}
		rest := name[at+len(word):]
		b.WriteString(name[:at] + string(operatorMark+rune(len(found))))
		if rest == "" || isLetter(rest[0]) || at > 0 && isLetter(name[at-1]) {
			found, name = append(found, word), rest // of another name, which siggen's rules take for one
			continue
		}
		// The others end at their parameters, and so do the types of conversions: "operator==",
		// "operator std::string".
		end := strings.IndexByte(rest, '(')
		if end < 0 {
			end = len(rest)
		}
		if i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(rest, o) }); i >= 0 {
			end = len(operators[i])
		}
		found = append(found, word+collapseTypes(rest[:end]))
		if name = strings.TrimLeft(rest[end:], " "); strings.HasSuffix(rest[:end], "<") && strings.HasPrefix(name, "<") {
			found[len(found)-1] += " "
		}
	}
	return b.String() + name, found
}

// collapseTypes leaves out template arguments, but not of operators that are such characters.
func collapseTypes(operator string) string {
	if !strings.HasPrefix(operator, " ") {
		return operator
	}
	return strings.TrimRight(collapse(operator, '<', '>', "<T>"), " ")
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isRustFile reports whether a source file is one of Rust, as siggen finds it out.
func isRustFile(file string) bool { return strings.HasSuffix(sourcePath(file), ".rs") }

// finish does the steps that both languages share, after the language's own.
func finish(name string, f *Frame, lists Lists) string {
	rust := isRustFile(f.File) || lists == Own && f.Language == LanguageRust
	if lists.WithLine(name) {
		line := "None"
		if f.Line != 0 {
			line = strconv.FormatUint(uint64(f.Line), 10)
		}
		name += ":" + line
	}
	for _, c := range []string{"*", "&", ","} {
		name = strings.ReplaceAll(name, " "+c, c)
	}
	var b strings.Builder
	for i := range len(name) {
		b.WriteByte(name[i])
		if name[i] == ',' && (i+1 == len(name) || name[i+1] != ' ') {
			b.WriteByte(' ')
		}
	}
	name = b.String()
	if rust {
		name = withoutHash(name)
	}
	return name
}

// normalizeRust leaves out what differs between equal crashes of Rust code: type arguments,
// parameters, and the suffix of a copy ("f (.llvm.123)"). Brackets around "Type as Trait" are part of a method's path and stay.
func normalizeRust(name string) string {
	name = lastToken(name)
	name = collapse(name, '<', '>', "<T>", " as ")
	return strings.TrimSpace(collapse(name, '(', ')', ""))
}

// isSwift reports whether a function is one of Swift: by its file, or by a name that ends with the type
// of its result.
func isSwift(f *Frame) bool {
	return strings.HasSuffix(sourcePath(f.File), ".swift") || len(outside(f.Function, " -> ")) > 1 || len(outside(f.Function, " : ")) > 1
}

// outside splits a text at a separator that is in no parentheses and no angle brackets.
func outside(text, separator string) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[from:i])
			from = i + len(separator)
			i = from - 1
		case c == '(' || c == '<' || c == '[':
			depth++
		case c == ')' || c == ']' || c == '>' && i > 0 && text[i-1] != '-':
			depth--
		}
	}
	return append(parts, text[from:])
}

// normalizeSwift leaves out the types of a Swift function, and what the compiler has made of it:
//
//	app.Store.get(key: Swift.String) -> Swift.Int?                     app.Store.get
//	closure #1 () -> () in app.run<A>(A) -> ()                         closure #1 in app.run
//	(1) suspend resume partial function for app.load() async -> ()     app.load
//	generic specialization <Swift.Int> of app.sort<A>(A) -> ()         app.sort
//	app.Store.count.getter : Swift.Int                                 app.Store.count.getter
func normalizeSwift(name string) string {
	name, _, _ = strings.Cut(name, " with unmangled suffix ")
	for _, of := range []string{"> of ", " for "} {
		if i := strings.LastIndex(name, of); i > 0 && !strings.Contains(name[:i], "witness") && (of == " for " || strings.Contains(name[:i], "specialization")) {
			name = name[i+len(of):]
		}
	}
	for _, word := range []string{"merged ", "@objc ", "@nonobjc ", "dynamic ", "static "} {
		name = strings.TrimPrefix(name, word)
	}
	parts := outside(name, " in ")
	for i, p := range parts {
		p = outside(outside(p, " -> ")[0], " : ")[0]
		if at := strings.Index(p, "extension in "); at >= 0 {
			_, p, _ = strings.Cut(p[at:], "):")
		}
		// A name with its file: "(items in _0123…)".
		for at := strings.Index(p, " in _"); at >= 0; at = strings.Index(p, " in _") {
			open, end := strings.LastIndexByte(p[:at], '('), strings.IndexByte(p[at:], ')')
			if open < 0 || end < 0 {
				break
			}
			p = p[:open] + p[open+1:at] + p[at+end+1:]
		}
		p = strings.ReplaceAll(p, " @Sendable", "")
		p = collapse(collapse(p, '<', '>', ""), '(', ')', "")
		p = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(p), " throws"), " async")
		parts[i] = strings.TrimSpace(p)
	}
	return strings.Join(parts, " in ")
}

// normalizeCPP leaves out the qualifiers after a C++ function's name, what is before it, and its
// template arguments.
func normalizeCPP(name string) string {
	for _, qualifier := range []string{"const", "const&", "const &", "&&", "&"} {
		if rest, ok := strings.CutSuffix(name, qualifier); ok {
			name = strings.TrimSpace(rest)
		}
	}
	if !strings.Contains(name, "::operator") {
		name = lastToken(name)
	}
	name = strings.ReplaceAll(name, "`anonymous namespace'", "(anonymous namespace)")
	name = withoutLambdaNumbers(name)
	name = collapse(name, '<', '>', "<T>", "name omitted", "IPC::ParamTraits", " in ")
	name = collapse(name, '(', ')', "", "anonymous namespace", "operator")
	if strings.Contains(name, "clone .cold") {
		name = collapse(name, '[', ']', "")
	}
	return name
}

// collapse replaces the outermost text between two delimiters, with the delimiters: "f<g<int>>"
// becomes "f<T>". It keeps the text if one of the exceptions is right before it or in it.
func collapse(name string, open, end byte, replacement string, exceptions ...string) string {
	kept := func(before, token string) bool {
		for _, e := range exceptions {
			if strings.HasSuffix(before, e) || token != "" && strings.Contains(token, e) {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	depth, from := 0, 0
	put := func(before, token string) {
		if kept(before, token) {
			b.WriteString(token)
		} else {
			b.WriteString(replacement)
		}
	}
	for i := range len(name) {
		switch c := name[i]; {
		case depth == 0 && c == open && !kept(name[:i], ""):
			depth, from = 1, i
		case depth == 0:
			b.WriteByte(c)
		case c == open:
			depth++
		case c == end:
			if depth--; depth == 0 {
				put(name[:i], name[from:i+1])
			}
		}
	}
	if depth > 0 {
		put(name[:len(name)-1], name[from:])
	}
	return b.String()
}

// closing has the delimiters in which a space does not separate tokens, with their ends.
var closing = map[byte]byte{'(': ')', '{': '}', '[': ']', '<': '>', '`': '\''}

// lastToken returns a function without the return type and other words before its name: "static
// void* A<B>::c(int)" becomes "A<B>::c(int)".
func lastToken(name string) string {
	starts := []int{0} // of the tokens
	var levels []byte
	for i := range len(name) {
		c := name[i]
		if end, ok := closing[c]; ok {
			levels = append(levels, end)
			continue
		}
		n := len(levels)
		switch {
		case n > 0 && levels[n-1] == c:
			levels = levels[:n-1]
		case n == 0 && c == ' ' && i+1 < len(name):
			starts = append(starts, i+1)
		}
	}
	if len(levels) == 0 {
		name = strings.TrimSuffix(name, " ")
	}
	last := len(starts) - 1
	// Arguments and clone suffixes may be separate tokens: "f (int) [clone .cold.1]".
	for last > 0 && (strings.HasPrefix(name[starts[last]:], "(") || strings.HasPrefix(name[starts[last]:], "[clone")) {
		last--
	}
	return name[starts[last]:]
}

// withoutLambdaNumbers replaces "::$_3::" by "::$::": clang numbers lambdas in a function.
func withoutLambdaNumbers(name string) string {
	const prefix = "::$_"
	var b strings.Builder
	for {
		before, after, found := strings.Cut(name, prefix)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name = strings.TrimLeft(after, "0123456789")
		if len(name) == len(after) || !strings.HasPrefix(name, "::") {
			b.WriteString(prefix)
			name = after
			continue
		}
		b.WriteString("::$::")
		name = name[len("::"):]
	}
}

// withoutHash removes the hash of a legacy Rust name: "::h" and hexadecimal digits.
func withoutHash(name string) string {
	i := strings.LastIndex(name, "::h")
	if i < 0 || i+3 == len(name) || strings.Trim(name[i+3:], "0123456789abcdefABCDEF") != "" {
		return name
	}
	return name[:i]
}

// sourcePath returns the path of a source file without the repository and revision that Mozilla's
// builds add ("hg:hg.mozilla.org/x:js/a.h:755067c"), or "" for a relative path.
func sourcePath(file string) string {
	parts := strings.Split(file, ":")
	switch {
	case len(parts) == 4:
		return parts[2]
	case len(parts) == 2:
		return parts[1]
	case path.IsAbs(file):
		return file
	}
	return ""
}
