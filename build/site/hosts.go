package site

import (
	"fmt"
	"sort"
	"strings"
)

// This file writes the site's headers as configuration of the usual hosts. All of it comes from
// Headers and CacheControl, so that these hosts send the same headers as build/serve.

// HeadersFile returns the contents of _headers, which Cloudflare (Workers' static assets, Pages)
// and Netlify read from the site's folder. names are the site's files.
func HeadersFile(names []string, bases ...string) string {
	var b strings.Builder
	b.WriteString("/*\n")
	// The host sends the headers of all rules that match a file. So the first rule has the headers
	// of all files, embed.html among them, and the page gets noFrames from a rule of its own.
	for _, h := range HeadersFor(Framed, bases...) {
		fmt.Fprintf(&b, "  %s: %s\n", h[0], h[1])
	}
	for _, page := range []string{"/", "/index.html"} {
		fmt.Fprintf(&b, "%s\n  Content-Security-Policy: %s\n", page, noFrames)
	}
	for _, name := range hashed(names) {
		fmt.Fprintf(&b, "/%s\n  Cache-Control: %s\n", name, CacheControl(name))
	}
	return b.String()
}

// hashed returns the names with a hash, sorted, without their compressed forms.
func hashed(names []string) []string {
	var out []string
	for _, name := range names {
		if Hashed(name) {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// endings returns the extensions that have a type, sorted.
func endings() []string {
	out := make([]string, 0, len(types))
	for ext := range types {
		out = append(out, ext)
	}
	sort.Strings(out)
	return out
}

// hashPattern matches what Hashed matches, as a regular expression.
var hashPattern = fmt.Sprintf(`\.[0-9a-f]{%d}\.[a-z]+$`, HashLen)

// Apache returns the contents of .htaccess, which the Apache server reads from the site's folder if
// its configuration allows it (AllowOverride FileInfo). With it the server sends the compressed
// forms in the folder.
func Apache(bases ...string) string {
	var b strings.Builder
	b.WriteString("<IfModule mod_headers.c>\n")
	for _, h := range Headers(bases...) {
		fmt.Fprintf(&b, "  Header always set %s %q\n", h[0], h[1])
	}
	fmt.Fprintf(&b, "  Header set Cache-Control %q\n", CacheControl("index.html"))
	fmt.Fprintf(&b, "  <FilesMatch %q>\n    Header set Cache-Control %q\n  </FilesMatch>\n", `\.[0-9a-f]{8}\.[a-z]+(\.br|\.gz)?$`, CacheControl(hashedExample))
	fmt.Fprintf(&b, "  <FilesMatch %q>\n    Header always set Content-Security-Policy %q\n  </FilesMatch>\n", `^embed\.html(\.br|\.gz)?$`, MetaCSP(bases...))
	b.WriteString("</IfModule>\n")
	for _, ext := range endings() {
		fmt.Fprintf(&b, "AddType %q %s\n", types[ext], ext)
	}
	// Apache's default configuration maps .gz to an encoding (AddEncoding) and .br to the language
	// Breton (AddLanguage).
	b.WriteString("RemoveEncoding .gz .br\nRemoveLanguage .br\n")
	b.WriteString("<IfModule mod_rewrite.c>\n  RewriteEngine On\n")
	b.WriteString("  RewriteCond %{REQUEST_METHOD} !^(GET|HEAD)$\n  RewriteRule ^ - [R=405,L]\n")
	// The server must not compress the compressed forms again (mod_deflate and mod_brotli read
	// these variables). Apache applies the rules of .htaccess again to the path that a rule below
	// has written, so the variables are set then too.
	b.WriteString("  RewriteRule \\.(br|gz)$ - [E=no-gzip:1,E=no-brotli:1,L]\n")
	for _, enc := range []struct{ name, ending string }{{"br", "br"}, {"gzip", "gz"}} {
		fmt.Fprintf(&b, "  RewriteCond %%{HTTP:Accept-Encoding} \\b%s\\b\n  RewriteCond %%{REQUEST_FILENAME}.%s -f\n", enc.name, enc.ending)
		fmt.Fprintf(&b, "  RewriteRule ^(.+\\.(html|css|js|wasm|svg|json|txt|webmanifest))$ $1.%s [L]\n", enc.ending)
	}
	b.WriteString("</IfModule>\n")
	for _, t := range []string{"html", "css", "js", "wasm", "svg", "json", "txt", "webmanifest"} {
		kind := ContentType("x." + t)
		for _, enc := range []struct{ name, ending string }{{"br", "br"}, {"gzip", "gz"}} {
			fmt.Fprintf(&b, "<FilesMatch \"\\.%s\\.%s$\">\n  ForceType %q\n  <IfModule mod_headers.c>\n    Header set Content-Encoding %s\n    Header append Vary Accept-Encoding\n  </IfModule>\n</FilesMatch>\n", t, enc.ending, kind, enc.name)
		}
	}
	return b.String()
}

// hashedExample is a name that Hashed accepts.
const hashedExample = "a.00000000.js"

// Nginx returns the body of a server block for nginx, whose root is the site's folder. add_header
// in a location replaces those of the server, so each location has all headers.
func Nginx(bases ...string) string {
	var b strings.Builder
	b.WriteString("# Inside of a server { } whose root is the site's folder.\n")
	b.WriteString("types {\n")
	for _, ext := range endings() {
		kind, _, _ := strings.Cut(types[ext], ";")
		fmt.Fprintf(&b, "    %s %s;\n", kind, ext[1:])
	}
	b.WriteString("}\ncharset utf-8;\ngzip_static on;\ngzip_vary on;\n# brotli_static on;   # with ngx_brotli\nindex index.html;\n")
	location := func(match, name, cache string) {
		fmt.Fprintf(&b, "location %s {\n    limit_except GET { deny all; }\n    add_header Cache-Control %q always;\n", match, cache)
		for _, h := range HeadersFor(name, bases...) {
			fmt.Fprintf(&b, "    add_header %s %q always;\n", h[0], h[1])
		}
		b.WriteString("}\n")
	}
	location("/", "index.html", CacheControl("index.html"))
	location(`~ "/`+strings.ReplaceAll(Framed, ".", `\.`)+`$"`, Framed, CacheControl(Framed))
	location(`~ "`+hashPattern+`"`, hashedExample, CacheControl(hashedExample))
	return b.String()
}

// Caddy returns a Caddyfile. Its first line is the address to serve. Caddy applies rules with a
// matcher before those without, so that a general rule would replace a special one: each header has
// matchers that exclude each other.
func Caddy(bases ...string) string {
	var b strings.Builder
	b.WriteString("crashpane.example.com {\n\troot * site\n")
	framed := "/" + strings.ReplaceAll(Framed, ".", `\.`) + "$"
	for _, m := range [][2]string{{"hashed", hashPattern}, {"framed", framed}} {
		fmt.Fprintf(&b, "\t@%s path_regexp %s\n\t@not_%s not path_regexp %s\n", m[0], m[1], m[0], m[1])
	}
	fmt.Fprintf(&b, "\theader @hashed Cache-Control %q\n\theader @not_hashed Cache-Control %q\n", CacheControl(hashedExample), CacheControl("index.html"))
	for i, h := range Headers(bases...) {
		if framed := HeadersFor(Framed, bases...)[i]; framed != h {
			fmt.Fprintf(&b, "\theader @framed %s %q\n\theader @not_framed %s %q\n", framed[0], framed[1], h[0], h[1])
		} else {
			fmt.Fprintf(&b, "\theader %s %q\n", h[0], h[1])
		}
	}
	for _, ext := range endings() {
		fmt.Fprintf(&b, "\t@%s path *%s\n\theader @%s Content-Type %q\n", ext[1:], ext, ext[1:], types[ext])
	}
	b.WriteString("\theader ?Vary Accept-Encoding\n\t@sending not method GET HEAD\n\trespond @sending 405\n\tfile_server {\n\t\tprecompressed br gzip\n\t}\n}\n")
	return b.String()
}

// Ignored returns the contents of .assetsignore: the files that Cloudflare should not upload.
// Cloudflare compresses by itself.
func Ignored() string {
	return "*.br\n*.html.gz\n*.css.gz\n*.js.gz\n*.wasm.gz\n*.svg.gz\n*.json.gz\n*.txt.gz\n.htaccess\n"
}
