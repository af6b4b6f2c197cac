// Bundle builds three things: dist/site, the page as plain files that any static host can serve;
// dist/crashpane.html, the page as one file that needs no host; and dist/npm, the npm package
// "crashpane". It compiles the wasm programs, joins and patches the scripts, and compresses the
// results. run lists the steps in order.
//
//	bundle [-src .] [-out dist/site] [-cache dist/cache] [-symbols "https://symbols.example"] [-servers "microsoft+https://symbols.example"] [-quick]
//
// The names of scripts and programs contain the hash of their content (crashpane.0123abcd.js), so
// that browsers can cache them for ever, and index.html refers to these names. The site also has
// the brotli and gzip form of each file (NAME.br, NAME.gz), for servers that send files already
// compressed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

func main() {
	src := flag.String("src", ".", "the root of the repository")
	out := flag.String("out", "dist/site", "the folder to make")
	cache := flag.String("cache", "dist/cache", "keeps compressed forms by content, and the wasm")
	viewer := flag.String("viewer", "./wasm/viewer", "the page's program")
	engine := flag.String("engine", "./wasm/worker", "the engine's program")
	version := flag.String("version", "", "what git describe says, for the package")
	origins := flag.String("embed-origins", "", "origins, by spaces, whose pages may embed the viewer without asking, and no others")
	token := flag.String("embed-token", "", "a secret that lets a page that embeds the viewer do without asking")
	quick := flag.Bool("quick", false, "compress fast instead of well")
	symbols := flag.String("symbols", "", "sources of symbol files that the page may ask, separated by spaces: https://host/path, or /path on its own server; microsoft+ or debuginfod+ before it names another layout than Breakpad's")
	servers := flag.String("servers", "", "symbol servers that the page's own Worker asks for it, separated by spaces: microsoft+https://host/path or debuginfod+https://host")
	flag.Parse()
	bases, err := site.Bases(*symbols)
	through, serversErr := site.Servers(*servers)
	bases, err = append(bases, through...), errors.Join(err, serversErr)
	if err == nil {
		err = run(*src, *out, *cache, *viewer, *engine, *version, embedders{*origins, *token}, bases, *quick)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(src, out, cache, viewer, engine, version string, trusted embedders, bases []string, quick bool) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	wasm, err := program(src, viewer, filepath.Join(cache, "crashpane.wasm"), buildFlags())
	if err != nil {
		return err
	}
	engineWasm, err := program(src, engine, filepath.Join(cache, "crashpane-engine.wasm"), engineFlags())
	if err != nil {
		return err
	}
	goroot, err := goRoot()
	if err != nil {
		return err
	}
	wasmExec, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	vugu, err := moduleDir(src, "github.com/vugu/vugu")
	if err != nil {
		return err
	}
	helper, err := vuguHelper(filepath.Join(vugu, "domrender", "renderer-js-script.go"), helperSum)
	if err != nil {
		return err
	}
	licenses, err := licenses(src, goroot, viewer, engine)
	if err != nil {
		return err
	}
	p := parts{
		static:   os.DirFS(filepath.Join(src, "web", "static")),
		sample:   os.DirFS(filepath.Join(src, "testdata", "sample")),
		embed:    os.DirFS(filepath.Join(src, "web", "embed")),
		trusted:  trusted,
		wasm:     wasm,
		engine:   engineWasm,
		wasmExec: wasmExec,
		helper:   helper,
		licenses: licenses,
		symbols:  bases,
	}
	files, err := assemble(p)
	if err != nil {
		return err
	}
	packed, err := compress(files, cache, quick)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	packed["_headers"] = []byte(site.HeadersFile(names, bases...))
	packed[".htaccess"] = []byte(site.Apache(bases...))
	packed[".assetsignore"] = []byte(site.Ignored())
	if err := write(filepath.Join(filepath.Dir(out), "hosting"), map[string][]byte{"nginx.conf": []byte(site.Nginx(bases...)), "Caddyfile": []byte(site.Caddy(bases...))}); err != nil {
		return err
	}
	if err := write(out, packed); err != nil {
		return err
	}
	one, err := single(p, gzipped(packed))
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(filepath.Dir(out), "crashpane.html"), one); err != nil {
		return err
	}
	pack, err := npm(p, semver(version))
	if err != nil {
		return err
	}
	return write(filepath.Join(filepath.Dir(out), "npm"), pack)
}

// gzipped returns a function that looks up the gzip form of a content among those made for the
// site.
func gzipped(packed map[string][]byte) func([]byte) ([]byte, error) {
	return func(content []byte) ([]byte, error) {
		for name, gz := range packed {
			if plain, ok := strings.CutSuffix(name, ".gz"); ok && bytes.Equal(packed[plain], content) {
				return gz, nil
			}
		}
		return nil, errors.New("the site has no compressed form of one of the programs")
	}
}

// program compiles a Go package to wasm and shrinks it (shrink.go).
func program(src, pkg, to string, flags []string) ([]byte, error) {
	wasm, err := buildWasm(src, pkg, to, flags)
	if err != nil {
		return nil, err
	}
	if wasm, err = shrink(wasm); err != nil {
		return nil, fmt.Errorf("making %s smaller: %w", pkg, err)
	}
	return wasm, nil
}

// buildWasm compiles a Go package to wasm.
func buildWasm(src, pkg, to string, flags []string) ([]byte, error) {
	target, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", target, pkg)...)
	build.Dir = src
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("compiling %s to wasm: %w", pkg, err)
	}
	return os.ReadFile(target)
}

// goRoot returns the GOROOT of the go command that compiles the wasm. Its lib/wasm/wasm_exec.js
// must be of the compiler's version.
func goRoot() (string, error) {
	text, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// moduleDir returns the folder with a module's source.
func moduleDir(src, module string) (string, error) {
	// go list -m does not fetch a module that the module cache lacks. go mod download does, and
	// nothing if the cache has it.
	download := exec.Command("go", "mod", "download", module)
	download.Dir = src
	if text, err := download.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetching %s: %s", module, strings.TrimSpace(string(text)))
	}
	dir, err := goList(src, nil, "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(dir), nil
}

func goList(src string, env []string, args ...string) (string, error) {
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Dir = src
	list.Env = append(os.Environ(), env...)
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
	}
	return string(text), nil
}
