package servers

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
)

// Layout divides the address of a server, "microsoft+https://host/path", into the layout and the
// address itself.
func Layout(base string) (layout, address string) {
	if layout, address, ok := strings.Cut(base, "+"); ok && !strings.Contains(layout, "/") {
		return layout, address
	}
	return rows.LayoutBreakpad, base
}

// FileAddress returns the address of a symbol file on a server; "" if the file has no proper name
// or id. The names come from an untrusted dump, so they are escaped, and "." and ".." are refused:
// the request must not reach another path of the server.
func FileAddress(base, storePath string) string {
	parts := strings.Split(storePath, "/")
	if len(parts) != 3 || len(parts[1]) < 9 || strings.Trim(parts[1], "0123456789abcdefABCDEF") != "" {
		return ""
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		base += "/" + words.Escape(part, "-._~!$&()*+,;=:@") // a segment (RFC 3986, section 3.3)
	}
	return base
}

// curlFolder is the folder into which the command for curl downloads.
const curlFolder = "symbols"

// curlCommand returns a command for the user's system that downloads what the page would ask for, a
// line for each file: for servers that the page may not ask, or that do not let it read their answers.
// On Windows it is for PowerShell. "" if there is nothing to ask for.
//
//	curl -fL --create-dirs -C - -o 'symbols/app/5A98…1/app.sym' 'https://symbols.example/app/5A98…1/app.sym'
func (z *Sources) curlCommand() string {
	curl, otherwise, end := "curl", " || ", ""
	if z.page.Host.System() == host.Windows {
		curl, otherwise, end = "curl.exe", "; if (-not $?) { ", " }"
	}
	if z.Token != "" {
		curl += " -H 'Authorization: Bearer TOKEN'"
	}
	_, root := Layout(z.base)
	one := func(url string) string {
		// A name of the dump is not trusted. In quotes the address has nothing that a shell reads.
		return curl + " -fL --create-dirs -C - -o '" + curlFolder + plainPath(strings.TrimPrefix(url, root)) + "' '" + strings.ReplaceAll(url, "'", "%27") + "'"
	}
	var lines []string
	for _, a := range z.all {
		line := one(a.URL)
		if a.Else != "" {
			line += otherwise + one(a.Else) + end
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plainPath replaces what is special to a shell or a file system in the path of an address. Symbol files
// are known by their content, so their names do not matter.
func plainPath(path string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+", c) {
			return c
		}
		return '_'
	}, path)
}
