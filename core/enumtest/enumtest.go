// Package enumtest lists the constants of a type from a package's source. Tests compare a table
// with them, so that a new constant without a row fails a test.
package enumtest

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Strings returns the exported constants of a string type, by their names. dir is the folder of the
// package's source, from that of the test.
func Strings[T ~string](t testing.TB, dir, typeName string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for name, v := range values(t, dir, typeName) {
		out[name] = T(constant.StringVal(v))
	}
	return out
}

// Numbers returns the exported constants of a type of numbers, by their names.
func Numbers[T ~uint8 | ~uint16 | ~uint32](t testing.TB, dir, typeName string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for name, v := range values(t, dir, typeName) {
		n, _ := constant.Uint64Val(v)
		out[name] = T(n)
	}
	return out
}

// nothing imports no package: constants of a package's own types need none, and what else is wrong
// then is of no interest.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// values fails the test if there is no such constant, since then nothing would be compared.
func values(t testing.TB, dir, typeName string) map[string]constant.Value {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		if !isSource(e) {
			continue
		}
		f, err := parser.ParseFile(set, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, set, files, nil)
	out := map[string]constant.Value{}
	for _, name := range pkg.Scope().Names() {
		c, isConst := pkg.Scope().Lookup(name).(*types.Const)
		if !isConst || !c.Exported() {
			continue
		}
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == typeName {
			out[name] = c.Val()
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", dir, typeName)
	}
	return out
}

func isSource(e fs.DirEntry) bool {
	return strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
}
