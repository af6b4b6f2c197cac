package demangle

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxLinkage is the length in bytes of the longest name that Linkage parses, and maxTries how many
	// it parses. The time of one grows with the square of its length, so that all of them take as
	// long as the longest one that Name demangles.
	maxLinkage = maxIn / 4
	maxTries   = 16
)

// Linkage returns the linkage name of a function with the given plain name, which debug information
// has: its name without scopes, and perhaps with template arguments. symbols are the names of the
// symbols where it starts. Linkage returns the first that is mangled and has the plain name, without
// what compilers append to it, or "".
//
//	_ZN3app3net6Socket4sendEi.cold    send          _ZN3app3net6Socket4sendEi
//	_ZN3app3maxIiEET_S1_              max<int>      _ZN3app3maxIiEET_S1_
//	_ZN3app3net6Socket4sendEi         receive       no
//	send                              send          no: it is not mangled
func Linkage(symbols []string, plain string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(plain, "~"), "<")
	if strings.HasPrefix(word, "operator") || strings.HasPrefix(word, "{") {
		word = "" // it is written in another way
	}
	tries := 0
	for _, symbol := range symbols {
		if len(symbol) > maxLinkage || !looksMangled(symbol) || !strings.Contains(symbol, word) {
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		linkage := withoutSuffix(symbol)
		same := sameCPP
		if isLegacyRust(linkage) || strings.HasPrefix(linkage, "_R") {
			same = sameRust
		}
		if same(linkage, plain) {
			return linkage
		}
	}
	return ""
}

// withoutSuffix returns a mangled name without what compilers append to it: ".cold", ".llvm.42".
func withoutSuffix(symbol string) string {
	name := strings.TrimSuffix(symbol, legacyRustSuffix(symbol))
	if isLegacyRust(name) { // it may have dots itself
		return name
	}
	name, _, _ = strings.Cut(symbol, ".")
	return name
}

// sameRust reports whether the last part of a mangled Rust name is a plain name. Both may have type
// arguments. A closure has a number, but for the old mangling. The readable names are:
//
//	<alloc::vec::Vec<i32> as core::ops::Drop>::drop    drop
//	core::ptr::drop_in_place<alloc::string::String>    drop_in_place<alloc::string::String>
//	app::run::<u8>                                     run<u8>
//	app::main::{{closure}}                             {closure#0}
//	core::ops::function::FnOnce::call_once{{vtable.shim}}    call_once<…>
func sameRust(linkage, plain string) bool {
	name := strings.ReplaceAll(strings.TrimSuffix(Name(linkage), "{{vtable.shim}}"), "->", "  ")
	last, depth, from := "", 0, 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '<' || c == '(' || c == '[':
			depth++
		case c == '>' || c == ')' || c == ']':
			depth--
		}
		part := name[from : i+1]
		if i+1 < len(name) {
			if depth > 0 || !strings.HasSuffix(part, "::") {
				continue
			}
			part, from = part[:len(part)-2], i+1
		}
		// Type arguments, and what the compiler made of the function before them.
		if !strings.HasPrefix(part, "<") && !strings.HasPrefix(part, "{shim") {
			last = part
		}
	}
	last, _, _ = strings.Cut(last, "<")
	plain, _, _ = strings.Cut(plain, "<")
	return last != "" && last == plain || last == "{{closure}}" && strings.HasPrefix(plain, "{closure#")
}

// sameCPP reports whether a mangled C++ name is that of a function with a plain name.
func sameCPP(linkage, plain string) bool {
	base, ok := baseName(linkage)
	base, plain = strings.ReplaceAll(base, " ", ""), strings.ReplaceAll(plain, " ", "")
	switch {
	case !ok || base == "":
		return false
	case base == plain:
		return true
	// "operator const char *" and "operator char const*" are the same.
	case strings.HasPrefix(base, "operator") && len(base) == len(plain) && strings.HasPrefix(plain, "operator"):
		a, b := []byte(base), []byte(plain)
		slices.Sort(a)
		slices.Sort(b)
		return string(a) == string(b)
	}
	rest, ok := strings.CutPrefix(plain, base)
	return ok && len(rest) > 1 && rest[0] == '<' && rest[len(rest)-1] == '>'
}

// baseName returns the name of a mangled C++ function without scopes, arguments and template
// arguments. ok is false if the name is broken, that of no function, or the library fails.
func baseName(linkage string) (base string, ok bool) {
	defer func() {
		if recover() != nil {
			base, ok = "", false
		}
	}()
	tree, err := demangle.ToAST(dropUnderscore(linkage))
	if err != nil {
		return "", false
	}
	prefix := ""
	for {
		switch n := tree.(type) {
		case *demangle.Typed:
			tree = n.Name
		case *demangle.EnableIf:
			tree = n.Type
		case *demangle.Constraint:
			tree = n.Name
		case *demangle.Qualified:
			tree = n.Name
		case *demangle.ModuleEntity:
			tree = n.Name
		case *demangle.Friend:
			tree = n.Name
		case *demangle.Template:
			tree = n.Name
		case *demangle.TaggedName:
			tree = n.Name
		case *demangle.Constructor:
			tree = n.Name
		case *demangle.Destructor:
			tree, prefix = n.Name, "~"
		case *demangle.Name, *demangle.Operator, *demangle.Cast, *demangle.Unary:
			return prefix + demangle.ASTToString(n, demangle.MaxLength(maxOutPower)), true
		default:
			return "", false
		}
	}
}
