package site

import (
	"fmt"
	"net/url"
	"strings"
)

// layouts are the prefixes of an address that name the layout of the server's paths.
var layouts = []string{"microsoft+", "debuginfod+", breakpad}

// breakpad is the prefix of the default layout.
const breakpad = "breakpad+"

// cutLayout splits a base into its layout, with the "+", and the address.
func cutLayout(base string) (layout, address string) {
	for _, l := range layouts {
		if address, ok := strings.CutPrefix(base, l); ok {
			return l, address
		}
	}
	return "", base
}

// Servers parses the list of symbol servers that the page's own Worker asks on its behalf, and
// returns the Worker's paths for them: "microsoft+/servers/symbols.example" for
// "microsoft+https://symbols.example/download/symbols".
func Servers(text string) ([]string, error) {
	var out []string
	for _, server := range fields(text) {
		layout, address := cutLayout(server)
		_, err := Bases(address)
		u, _ := url.Parse(address)
		if err != nil || u == nil || u.Host == "" || layout == "" {
			return nil, fmt.Errorf("%q is not a symbol server: write microsoft+https://host/path, debuginfod+https://host or breakpad+https://host/path", server)
		}
		out = append(out, strings.TrimPrefix(layout, breakpad)+"/servers/"+u.Host)
	}
	return out, nil
}

func fields(text string) []string { return strings.Fields(strings.ReplaceAll(text, ",", " ")) }

// Bases parses the list of symbol sources that the page may ask, given when the page is built. They
// are separated by spaces or commas. Each is "https://host[:port][/path]", or "/path" for one on
// the page's own server. A prefix names a layout other than Breakpad's ("microsoft+https://…").
// Bases returns them without a slash at the end.
func Bases(text string) ([]string, error) {
	var out []string
	for _, base := range fields(text) {
		layout, base := cutLayout(base)
		u, err := url.Parse(base)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not the address of a symbol source: %w", base, err)
		case strings.ContainsAny(base, "\"'<>;\\*") || u.User != nil || strings.ContainsAny(base, "?#"):
			return nil, fmt.Errorf("%q is not the address of a symbol source: it has a user name, a query, a fragment, or one of \" ' < > ; \\ *", base)
		case u.Host == "" && (u.Scheme != "" || !strings.HasPrefix(base, "/") || strings.HasPrefix(base, "//")),
			u.Host != "" && u.Scheme != "https" && u.Scheme != "http":
			return nil, fmt.Errorf("%q is not the address of a symbol source: write https://host/path, or /path for one on the page's own server", base)
		}
		if base = strings.TrimRight(base, "/"); base == "" {
			return nil, fmt.Errorf("%q is the page itself; a symbol source needs another path", "/")
		}
		out = append(out, strings.TrimPrefix(layout, breakpad)+base)
	}
	return out, nil
}

// origins returns the origins of bases, each once, for connect-src. The policy allows the page's
// own by 'self'.
func origins(bases []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, base := range bases {
		_, base := cutLayout(base)
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			if origin := u.Scheme + "://" + u.Host; !seen[origin] {
				seen[origin] = true
				out = append(out, origin)
			}
		}
	}
	return out
}

// basesAttribute is the attribute in index.html and embed.html from which the page's script reads
// its bases.
const basesAttribute = `data-symbols="`

// AddBases returns the page with bases written into basesAttribute.
func AddBases(html string, bases []string) string {
	return strings.Replace(html, basesAttribute+`"`, basesAttribute+strings.Join(bases, " ")+`"`, 1)
}

// BasesOf returns the bases that a page was built with, so that a server sends the same policy as
// the page's meta element.
func BasesOf(html string) []string {
	_, rest, _ := strings.Cut(html, basesAttribute)
	text, _, _ := strings.Cut(rest, `"`)
	bases, err := Bases(text)
	if err != nil {
		return nil
	}
	return bases
}
