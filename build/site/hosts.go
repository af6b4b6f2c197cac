package site

import (
	"fmt"
	"sort"
	"strings"
)

// The same headers in the words of the usual hosts. All of them are made of Headers and CacheControl, so that they cannot say
// something else than the project's own server.

// HeadersFile is _headers, which Cloudflare (Workers' static assets, Pages) and Netlify read out of the site's folder.
// names are the site's files.
func HeadersFile(names []string, bases ...string) string {
	var b strings.Builder
	b.WriteString("/*\n")
	// All rules that match a file count: what holds for embed.html too comes first, and the page has more.
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

// hashed are the names that never change their content, without those that lie precompressed beside others.
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

// hashPattern matches what Hashed matches, as a regular expression.
var hashPattern = fmt.Sprintf(`\.[0-9a-f]{%d}\.[a-z]+$`, HashLen)

// Apache is .htaccess, which Apache's server reads out of the site's folder if it may (AllowOverride FileInfo). It sends the
// compressed forms that lie beside the files.
func Apache(bases ...string) string {
	var b strings.Builder
	b.WriteString("<IfModule mod_headers.c>\n")
	for _, h := range Headers(bases...) {
		fmt.Fprintf(&b, "  Header always set %s %q\n", h[0], h[1])
	}
	fmt.Fprintf(&b, "  Header set Cache-Control %q\n", CacheControl("index.html"))
	fmt.Fprintf(&b, "  <FilesMatch %q>\n    Header set Cache-Control %q\n  </FilesMatch>\n", `\.[0-9a-f]{8}\.[a-z]+(\.br|\.gz)?$`, CacheControl(hashedExample))
	fmt.Fprintf(&b, "  <FilesMatch %q>\n    Header always set Content-Security-Policy %q\n  </FilesMatch>\n", `^embed\.html(\.br|\.gz)?$`, MetaCSP(bases...))
	b.WriteString("</IfModule>\nAddType application/wasm .wasm\nAddType application/manifest+json .webmanifest\n")
	b.WriteString("<IfModule mod_rewrite.c>\n  RewriteEngine On\n")
	for _, enc := range []struct{ name, ending string }{{"br", "br"}, {"gzip", "gz"}} {
		fmt.Fprintf(&b, "  RewriteCond %%{HTTP:Accept-Encoding} \\b%s\\b\n  RewriteCond %%{REQUEST_FILENAME}.%s -f\n", enc.name, enc.ending)
		fmt.Fprintf(&b, "  RewriteRule ^(.+\\.(html|css|js|wasm|svg|json|txt|webmanifest))$ $1.%s [E=packed:%s,L]\n", enc.ending, enc.name)
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

// Nginx is a server block's inside: put it into the server that has the site's folder as its root.
func Nginx(bases ...string) string {
	var b strings.Builder
	b.WriteString("# Inside of a server { } whose root is the site's folder.\n")
	b.WriteString("types {\n")
	kinds := make([]string, 0, len(types))
	for ext := range types {
		kinds = append(kinds, ext)
	}
	sort.Strings(kinds)
	for _, ext := range kinds {
		kind, _, _ := strings.Cut(types[ext], ";")
		fmt.Fprintf(&b, "    %s %s;\n", kind, ext[1:])
	}
	b.WriteString("}\ncharset utf-8;\ngzip_static on;\n# brotli_static on;   # with ngx_brotli\nindex index.html;\n")
	location := func(match, name, cache string) {
		fmt.Fprintf(&b, "location %s {\n    limit_except GET { deny all; }\n    add_header Cache-Control %q always;\n", match, cache)
		for _, h := range HeadersFor(name, bases...) {
			fmt.Fprintf(&b, "    add_header %s %q always;\n", h[0], h[1])
		}
		b.WriteString("}\n")
	}
	location("/", "index.html", CacheControl("index.html"))
	location("= /"+Framed, Framed, CacheControl(Framed))
	location(`~ "`+hashPattern+`"`, hashedExample, CacheControl(hashedExample))
	return b.String()
}

// Caddy is a Caddyfile; the first line is the address to serve.
func Caddy(bases ...string) string {
	var b strings.Builder
	b.WriteString("crashpane.example.com {\n\troot * site\n")
	fmt.Fprintf(&b, "\t@hashed path_regexp %s\n\theader Cache-Control %q\n\theader @hashed Cache-Control %q\n", hashPattern, CacheControl("index.html"), CacheControl(hashedExample))
	for _, h := range Headers(bases...) {
		fmt.Fprintf(&b, "\theader %s %q\n", h[0], h[1])
	}
	fmt.Fprintf(&b, "\t@framed path_regexp /%s$\n\theader @framed Content-Security-Policy %q\n", strings.ReplaceAll(Framed, ".", `\.`), MetaCSP(bases...))
	b.WriteString("\tfile_server {\n\t\tprecompressed br gzip\n\t}\n}\n")
	return b.String()
}

// Ignored is .assetsignore: what Cloudflare need not take, because it compresses by itself.
func Ignored() string {
	return "*.br\n*.html.gz\n*.css.gz\n*.js.gz\n*.wasm.gz\n*.svg.gz\n*.json.gz\n*.txt.gz\n.htaccess\n"
}
