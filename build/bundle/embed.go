package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

// embedders are the pages that may embed the viewer without asking the user. The site contains the
// token's SHA-256 only.
type embedders struct{ origins, token string }

// list returns the origins. It is an error if one is not an origin.
func (e embedders) list() ([]string, error) {
	list := strings.Fields(e.origins)
	for _, o := range list {
		if !isOrigin.MatchString(o) {
			return nil, fmt.Errorf("-embed-origins: %q is not an origin, such as https://portal.example", o)
		}
	}
	return list, nil
}

// isOrigin matches origins as browsers write them.
var isOrigin = regexp.MustCompile(`^https?://(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d+)?$`)

func (e embedders) hash() string {
	if e.token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(e.token))
	return hex.EncodeToString(sum[:])
}

// framePage returns embed.html and adds its script and style sheet to the assets.
func framePage(p parts, assets map[string][]byte) (string, error) {
	origins, err := p.trusted.list()
	if err != nil {
		return "", err
	}
	html, err := fs.ReadFile(p.embed, "embed.html")
	if err != nil {
		return "", err
	}
	style, err := fs.ReadFile(p.embed, "embed.css")
	if err != nil {
		return "", err
	}
	assets["crashpane-embed.css"] = style
	var script bytes.Buffer
	for _, name := range []string{"core.js", "embed.js"} {
		text, err := fs.ReadFile(p.embed, name)
		if err != nil {
			return "", err
		}
		script.WriteString(classic(string(text)))
	}
	var b bytes.Buffer
	enclose(&b, script.Bytes())
	assets["crashpane-embed.js"] = b.Bytes()
	page := strings.Replace(string(html), `data-origins=""`, `data-origins="`+strings.Join(origins, " ")+`"`, 1)
	return strings.Replace(page, `data-token-sha256=""`, `data-token-sha256="`+p.trusted.hash()+`"`, 1), nil
}

var (
	importLine = regexp.MustCompile(`(?m)^import .*;\n`)
	exportWord = regexp.MustCompile(`(?m)^export `)
)

// classic turns a module into a classic script by removing its imports and exports: the caller puts
// the imported code before it, or it is a global.
func classic(module string) string {
	return exportWord.ReplaceAllString(importLine.ReplaceAllString(module, ""), "")
}

// npm returns the files of the npm package "crashpane": modules that load the wasm programs from
// their own folder, and embed.html with the files that it needs.
func npm(p parts, version string) (map[string][]byte, error) {
	files := map[string][]byte{"crashpane.wasm": p.wasm, "crashpane-engine.wasm": p.engine, "licenses.txt": p.licenses}
	entries, err := fs.ReadDir(p.embed, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if files[entry.Name()], err = fs.ReadFile(p.embed, entry.Name()); err != nil {
			return nil, err
		}
	}
	if files["crashpane.css"], err = styleSheet(p.static); err != nil {
		return nil, err
	}
	loader, worker, err := scriptsOf(p.static)
	if err != nil {
		return nil, err
	}
	files["runtime.js"] = runtimeModule(p.wasmExec, p.helper, loader)
	files["crashpane-worker.js"] = workerScript(p.wasmExec, worker)
	if files["style.js"], err = styleModule(files); err != nil {
		return nil, err
	}
	if err := packFrame(p, files); err != nil {
		return nil, err
	}
	licenseEnd := bytes.Index(p.licenses, []byte("\n\n== "+goName))
	if licenseEnd > 0 {
		_, text, _ := strings.Cut(string(p.licenses[:licenseEnd]), "==\n\n")
		files["LICENSE"] = []byte(text + "\n")
	}
	return files, describe(files, version)
}

// describe writes the version and the list of files into package.json.
func describe(files map[string][]byte, version string) error {
	const unset = `"version": "0.0.0"`
	text := string(files["package.json"])
	if strings.Count(text, unset) != 1 {
		return fmt.Errorf("web/embed/package.json must have %s once", unset)
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return err
	}
	files["package.json"] = []byte(strings.Replace(text, unset, `"version": `+string(quoted), 1))
	return nil
}

// packFrame adds the package's embed.html, whose script is a module.
func packFrame(p parts, files map[string][]byte) error {
	html, err := framePage(p, map[string][]byte{})
	if err != nil {
		return err
	}
	const scripts = "<script src=\"crashpane.js\" defer></script>\n<script src=\"crashpane-embed.js\" defer></script>"
	if !strings.Contains(html, scripts) {
		return fmt.Errorf("embed.html must load crashpane.js and crashpane-embed.js in its head")
	}
	html = strings.Replace(html, scripts, `<script type="module" src="embed.js"></script>`, 1)
	html = strings.Replace(html, `"crashpane-embed.css"`, `"embed.css"`, 1)
	html = strings.Replace(html, `data-engine-size="0"`, fmt.Sprintf(`data-engine-size="%d"`, len(p.engine)), 1)
	html = site.AddBases(html, p.symbols)
	if html, err = addPolicy(html, site.MetaCSP(p.symbols...)); err != nil {
		return err
	}
	files["embed.html"] = []byte(html)
	return nil
}

// runtimeModule returns Go's wasm_exec.js, Vugu's helper and the loader as a module. The globals
// that they set become variables of the module, because the embedding page may have globals of the
// same names.
func runtimeModule(wasmExec []byte, helper string, loader []byte) []byte {
	var b bytes.Buffer
	b.WriteString("// Go's wasm_exec.js and Vugu's DOM helper, with their licenses in licenses.txt; then the loader of Crashpane.\n")
	b.WriteString(`const own = Object.create(null);
const scope = new Proxy(globalThis, {
  get: (target, key) => {
    if (key in own) return own[key];
    const value = Reflect.get(target, key);
    // A browser's functions, such as setTimeout, must be called on the global object itself.
    return typeof value === "function" && !("prototype" in value) ? value.bind(target) : value;
  },
  set: (_, key, value) => {
    own[key] = value;
    return true;
  },
  has: (target, key) => key in own || key in target,
});
`)
	part := func(script []byte) {
		b.WriteString("(function (globalThis) {\n")
		b.Write(script)
		b.WriteString("\n})(scope);\n")
	}
	// wasm_exec.js reads Go from the global object, where it has set it.
	part(bytes.ReplaceAll(wasmExec, []byte("\tfs.writeSync("), []byte("\tglobalThis.fs.writeSync(")))
	b.WriteString("own.crashpaneVuguHelper = function (window, document) {\n" + content + helper + "\n};\n")
	part(loader)
	b.WriteString("export const { Go, startCrashpane, runCrashpane, compileCrashpane } = own;\nexport { scope };\n")
	return b.Bytes()
}

// narrow matches a media query for windows narrower than a width.
var narrow = regexp.MustCompile(`@media \((max-width: \d+px)\)`)

// ofWindow matches a length in units of the window's size.
var ofWindow = regexp.MustCompile(`(\d)d?v([hw])\b`)

// styleModule returns the style sheet of the custom element as a module. Rules of the page that
// depend on the window's size become rules that depend on the element's size (container queries and
// their units).
func styleModule(files map[string][]byte) ([]byte, error) {
	var sheet strings.Builder
	for _, name := range []string{"crashpane.css", "embed.css", "element.css"} {
		if files[name] == nil {
			return nil, fmt.Errorf("there is no style sheet %s for the element", name)
		}
		text := narrow.ReplaceAll(files[name], []byte("@container crashpane ($1)"))
		sheet.Write(ofWindow.ReplaceAll(text, []byte("${1}cq$2")))
	}
	delete(files, "element.css")
	text, err := json.Marshal(sheet.String())
	return []byte("// The style of <crash-pane>.\nexport const style = " + string(text) + ";\n"), err
}

var described = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(.+))?$`)

// semver converts the output of git describe to a semantic version. It may be v1.2.3,
// v1.2.3-4-gabcdef (four commits after v1.2.3), or the hash of a commit.
func semver(describe string) string {
	describe = strings.TrimSpace(describe)
	if m := described.FindStringSubmatch(describe); m != nil {
		if m[2] == "" {
			return m[1]
		}
		return m[1] + "-" + m[2]
	}
	if describe == "" {
		return "0.0.0"
	}
	return "0.0.0-g" + describe
}
