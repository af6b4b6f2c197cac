package dwarf

import "strings"

// absolute reports whether a path is absolute on Unix or Windows: the file's own system is not
// known here.
func absolute(p string) bool {
	return len(p) > 0 && (p[0] == '/' || p[0] == '\\') || drive(p)
}

// drive reports whether a path begins with a drive: `C:\` or "C:/".
func drive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// slash reports whether a byte separates the parts of a path, on one system or the other.
func slash(c byte) bool { return c == '/' || c == '\\' }

// joinPath joins a path to a directory, with the directory's separator. An absolute path stays as
// it is.
//
//	joinPath("/build", "../src/a.c")    /build/../src/a.c   cleanPath makes it /src/a.c
//	joinPath(`C:\build`, "a.c")         C:\build\a.c
//	joinPath("/build", "C:/src/a.c")    C:/src/a.c
func joinPath(dir, p string) string {
	switch {
	case p == "":
		return dir
	case dir == "" || absolute(p):
		return p
	case slash(dir[len(dir)-1]):
		return dir + p
	case windows(dir):
		return dir + `\` + p
	}
	return dir + "/" + p
}

// windows reports whether a directory uses backslashes only.
func windows(p string) bool {
	return (drive(p) || strings.HasPrefix(p, `\\`)) && !strings.Contains(p, "/")
}

// cleanPath removes "." and "folder/..", so that a file has one path in all units:
// "/src/./a/../b.c" becomes "/src/b.c". It keeps a ".." that leads above the start of the path.
func cleanPath(p string) string {
	if !dotted(p) {
		return p
	}
	sep, cut := byte('/'), func(r rune) bool { return r == '/' }
	if drive(p) || strings.HasPrefix(p, `\\`) {
		cut = func(r rune) bool { return r == '/' || r == '\\' }
		if windows(p) {
			sep = '\\'
		}
	}
	var out []string
	for i, part := range strings.FieldsFunc(p, cut) {
		switch {
		case part == ".":
		case part == ".." && len(out) > 0 && out[len(out)-1] != ".." && !(i == 1 && drive(p)):
			out = out[:len(out)-1]
		default:
			out = append(out, part)
		}
	}
	// FieldsFunc drops leading separators: one of "/src", two of `\\server\share`.
	root := ""
	for root != p && len(root) < 2 && slash(p[len(root)]) {
		root += string(sep)
	}
	return root + strings.Join(out, string(sep))
}

// dotted reports whether a path has a part that is "." or "..".
func dotted(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] != '.' || i > 0 && !slash(p[i-1]) {
			continue
		}
		rest := p[i+1:]
		rest = strings.TrimPrefix(rest, ".")
		if rest == "" || slash(rest[0]) {
			return true
		}
	}
	return false
}
