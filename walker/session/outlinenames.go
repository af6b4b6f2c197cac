package session

import (
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Find goes on with a search for functions whose names contain a text: of a symbol file in its records, about step bytes
// of them, of a binary in a part of its symbol tables, without its debug information. It finds at most most. from is 0 at
// first, then the number that it returned; below 0 there are no further ones.
func (o *Outline) Find(text string, most int, from, step int64) (found []report.OutlineRow, next int64, err error) {
	if !o.file.IsBinary {
		list, err := o.List(OutlineWish{Kind: report.OutlineFunctions, Text: text, Most: most}, 0, most, step)
		if err != nil || list.Ended {
			return list.Rows, -1, err
		}
		return nil, 0, nil
	}
	matches := o.matcher(text)
	next = -1
	o.file.WithBinary(func(b symbols.Binary) {
		next, err = b.Names(from, func(s symbol.Symbol) {
			if len(found) < most && matches([]byte(s.Name)) {
				found = append(found, report.OutlineRow{Address: o.address(s.Start), Size: s.Size, Public: true, Name: report.Name{Raw: s.Name, Linked: true}})
			}
		})
	})
	if len(found) >= most {
		next = -1
	}
	return found, next, err
}

// generated are words of readable names that mangled names do not spell, in lower case: those of types, of
// the standard library's names, and of what compilers make.
var generated = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`std string basic_string allocator char_traits basic_istream basic_ostream basic_iostream istream ostream iostream
		void bool char signed unsigned short int long float double wchar_t char8_t char16_t char32_t __int128 const volatile restrict auto decltype nullptr_t
		operator new delete virtual non thunk to for vtable vtt typeinfo name guard variable construction vtbl anonymous namespace lambda clone
		reference temporary initializer initialization closure covariant return override template parameter object tls init function impl shim static dynamic
		destructor constructor deleting scalar vector vbase iterator copy default local hidden alias block invoke as sizeof typename noexcept enable_if
		requires true false str usize isize u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 mut dyn fn impl unnamed type`) {
		generated[w] = true
	}
}

// matcher returns a function that reports whether a name contains a text, whatever the case: as the file
// has it, or readable. A name is made readable only if it has the longest word of the text that
// mangled names spell too.
func (o *Outline) matcher(text string) func(name []byte) bool {
	if text == "" {
		return func([]byte) bool { return true }
	}
	text = strings.ToLower(text)
	word := ""
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80) }) {
		if len(w) > len(word) && !generated[w] {
			word = w
		}
	}
	readable := o.fs.opt.Demangle
	if readable == nil {
		readable = demangle.Name
	}
	return func(name []byte) bool {
		if containsFold(name, text) {
			return true
		}
		swift := hasPrefix(name, "$s") || hasPrefix(name, "_$s") || hasPrefix(name, "_T") // they abbreviate words
		mangled := swift || hasPrefix(name, "_Z") || hasPrefix(name, "__Z") || hasPrefix(name, "?") || hasPrefix(name, "_R") || hasPrefix(name, "_D")
		if !mangled || !swift && word != "" && !containsFold(name, word) {
			return false
		}
		return strings.Contains(strings.ToLower(readable(string(name))), text)
	}
}

func hasPrefix(name []byte, prefix string) bool {
	return len(name) >= len(prefix) && string(name[:len(prefix)]) == prefix
}

// containsFold reports whether a name contains a text in lower case, whatever the case of its ASCII letters.
func containsFold(name []byte, text string) bool {
	for i := 0; i+len(text) <= len(name); i++ {
		k := 0
		for k < len(text) && lower(name[i+k]) == text[k] {
			k++
		}
		if k == len(text) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
