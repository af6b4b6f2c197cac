package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

// parts are the inputs of a site.
type parts struct {
	static   fs.FS // web/static
	sample   fs.FS // testdata/sample
	embed    fs.FS // web/embed
	trusted  embedders
	wasm     []byte // the page's program
	engine   []byte // the engine's program
	wasmExec []byte
	helper   string
	licenses []byte
	symbols  []string // the sources of symbol files that the page may ask (site.Bases)
}

// required are the files that index.html must name, each as the value of an attribute. assemble
// replaces these values by the names with hashes. A file that index.html names in another way would
// be requested without its hash, and not be found.
var required = []string{"crashpane.js", "crashpane.css", "crashpane.wasm", "crashpane-worker.js", "crashpane-engine.wasm"}

// assemble returns the files of the site by their names.
func assemble(p parts) (map[string][]byte, error) {
	loader, worker, err := scriptsOf(p.static)
	if err != nil {
		return nil, err
	}
	index, err := fs.ReadFile(p.static, "index.html")
	if err != nil {
		return nil, err
	}
	assets := map[string][]byte{
		"crashpane.js":          pageScript(p.wasmExec, p.helper, loader),
		"crashpane-worker.js":   workerScript(p.wasmExec, worker),
		"crashpane.wasm":        p.wasm,
		"crashpane-engine.wasm": p.engine,
	}
	frame, err := framePage(p, assets)
	if err != nil {
		return nil, err
	}
	for made, from := range scripts {
		script, err := fs.ReadFile(p.static, from)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		enclose(&b, script)
		assets[made] = b.Bytes()
	}
	if assets["crashpane.css"], err = styleSheet(p.static); err != nil {
		return nil, err
	}
	if err := addStatic(assets, p.static); err != nil {
		return nil, err
	}

	files := map[string][]byte{"licenses.txt": p.licenses}
	// The page shows how much of the engine has arrived. Content-Length of a compressed response
	// is not the unpacked size, so the page states it.
	size := fmt.Sprintf(`data-engine-size="%d"`, len(p.engine))
	html := strings.Replace(string(index), `data-engine-size="0"`, size, 1)
	frame = strings.Replace(frame, `data-engine-size="0"`, size, 1)
	for _, name := range required {
		if quoted := `="` + name + `"`; !strings.Contains(html, quoted) || assets[name] == nil {
			return nil, fmt.Errorf("index.html must name %s in an attribute, as in %q, and web/static must have it", name, quoted)
		}
	}
	html = site.AddBases(html, p.symbols)
	for name, content := range assets {
		quoted := `="` + name + `"`
		// A browser identifies an installed application by its manifest's URL, so its name has no
		// hash.
		if strings.Contains(html+frame, quoted) && path.Ext(name) != ".webmanifest" {
			hashed := hashedName(name, content)
			html = strings.ReplaceAll(html, quoted, `="`+hashed+`"`)
			frame = strings.ReplaceAll(frame, quoted, `="`+hashed+`"`)
			name = hashed
		}
		files[name] = content
	}
	if html, err = addPolicy(html, site.MetaCSP(p.symbols...)); err != nil {
		return nil, err
	}
	files["index.html"] = []byte(html)
	frame = site.AddBases(frame, p.symbols)
	if frame, err = addPolicy(frame, site.MetaCSP(p.symbols...)); err != nil {
		return nil, err
	}
	files["embed.html"] = []byte(frame)
	if err := addSample(files, p.sample); err != nil {
		return nil, err
	}
	return files, addServiceWorker(files, p.static)
}

// scripts are the page's scripts that it loads on demand, and the sources that each is made of.
var scripts = map[string]string{"crashpane-app.js": "app.js"}

// addServiceWorker adds sw.js, which caches the page for use without a network: all files but the
// licenses and sw.js itself, which the browser stores. The cache's version is the hash of all
// cached files.
func addServiceWorker(files map[string][]byte, static fs.FS) error {
	script, err := fs.ReadFile(static, "sw.js")
	if err != nil {
		return err
	}
	names := []string{}
	for name := range files {
		// Files for pages that embed the viewer are not a part of the application.
		if name != "licenses.txt" && name != "index.html" && name != "embed.html" && !strings.HasPrefix(name, "crashpane-embed.") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	version := sha256.New()
	for _, name := range append(names, "index.html") {
		fmt.Fprintf(version, "%s %d\n", name, len(files[name]))
		version.Write(files[name])
	}
	// The cache has the page under its folder's URL: some hosts redirect requests for index.html
	// there.
	list, err := json.Marshal(append([]string{"./"}, names...))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// The service worker of Crashpane.\nconst version = %q;\nconst files = %s;\n", hex.EncodeToString(version.Sum(nil))[:16], list)
	enclose(&b, script)
	files["sw.js"] = b.Bytes()
	return nil
}

// scriptsOf returns the page's own script and the worker's. The worker's includes the parts that
// fetch symbol files from a server, read ranges of a file, and unpack compressed files.
func scriptsOf(static fs.FS) (loader, worker []byte, err error) {
	read := func(names ...string) (all []byte) {
		for _, name := range names {
			part, problem := fs.ReadFile(static, name)
			if problem != nil && err == nil {
				err = problem
			}
			all = append(all, part...)
		}
		return all
	}
	return read("fetching.js", "kept.js", "symbols.js", "loader.js"), read("worker.js", "fetching.js", "kept.js", "ranges.js", "unpack.js"), err
}

// addStatic adds the files of web/static except those that become parts of other files, as all
// scripts do.
func addStatic(assets map[string][]byte, static fs.FS) error {
	return fs.WalkDir(static, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "index.html" || path.Ext(name) == ".js" || path.Dir(name) == styleFolder {
			return err
		}
		if assets[name] != nil {
			return fmt.Errorf("web/static/%s: the bundle makes a file of that name", name)
		}
		assets[name], err = fs.ReadFile(static, name)
		return err
	})
}

// styleFolder has the style sheet in parts.
const styleFolder = "css"

// styleSheet joins the parts to crashpane.css, in the order of their names.
func styleSheet(static fs.FS) (sheet []byte, err error) {
	parts, err := fs.Glob(static, styleFolder+"/*.css") // sorted
	if err != nil || len(parts) == 0 {
		return nil, errors.Join(err, errors.New("web/static/css has no style sheet"))
	}
	for _, name := range parts {
		content, err := fs.ReadFile(static, name)
		if err != nil {
			return nil, err
		}
		sheet = append(sheet, content...)
	}
	return sheet, nil
}

// hashedName inserts the content's hash before the name's extension.
func hashedName(name string, content []byte) string {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:])[:site.HashLen] + ext
}

// addPolicy inserts the content security policy into the page as a meta element, so that it also
// applies on a host that sends no headers. It must precede all scripts and styles: browsers apply
// it to what follows it.
func addPolicy(html, policy string) (string, error) {
	if strings.Contains(strings.ToLower(html), "content-security-policy") {
		return "", fmt.Errorf("index.html has a Content-Security-Policy of its own; build/site has the one that counts")
	}
	const after = `<meta charset="utf-8">`
	if strings.Count(html, after) != 1 {
		return "", fmt.Errorf("index.html must have %s once, and first in its head", after)
	}
	meta := `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`
	return strings.Replace(html, after, after+"\n"+meta, 1), nil
}

// sampleFile is one row of sample/files.json, the list of files that the button "Open the sample"
// opens.
type sampleFile struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// addSample adds the dump and the symbol files of testdata/sample, and their list.
func addSample(files map[string][]byte, sample fs.FS) error {
	names, err := sampleNames(sample)
	if err != nil {
		return err
	}
	var list []sampleFile
	for _, name := range names {
		content, err := fs.ReadFile(sample, name)
		if err != nil {
			return err
		}
		files["sample/"+name] = content
		list = append(list, sampleFile{name, len(content)})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(map[string]any{"files": list}); err != nil {
		return err
	}
	files["sample/files.json"] = b.Bytes()
	return nil
}

// sampleNames returns the names of the sample's files, the dump first: the page walks it while it
// still fetches the symbol files.
func sampleNames(sample fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(sample, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".dmp") || strings.HasSuffix(name, ".sym") || strings.HasSuffix(name, ".sym.gz") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("testdata/sample holds neither a dump nor symbols")
	}
	sort.SliceStable(names, func(i, j int) bool {
		return strings.HasSuffix(names[i], ".dmp") && !strings.HasSuffix(names[j], ".dmp")
	})
	return names, nil
}
