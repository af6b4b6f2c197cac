package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// Types of the page and of its protocol stay small: one that does everything is one that nobody can
// change.
const (
	maxMethods = 25
	maxFields  = 20
)

// smallTypes are the packages that are held to that, as in importRules.
var smallTypes = []string{"web/app/...", "web/protocol"}

// typeSize is how much a type has.
type typeSize struct{ methods, fields int }

func checkTypes(t *tree) ([]string, string, error) {
	var wrong []string
	most, at := typeSize{}, [2]string{}
	for _, folder := range foldersOf(t.files, func(name string) bool { return path.Ext(name) == ".go" && fitsAny(smallTypes, path.Dir(name)) }) {
		var sources [][]byte
		for _, name := range t.files {
			if path.Dir(name) != folder || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				continue
			}
			content, err := t.read(name)
			if err != nil {
				return nil, "", err
			}
			sources = append(sources, content)
		}
		sizes, err := sizeTypes(sources)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", folder, err)
		}
		wrong = append(wrong, judgeTypes(folder, sizes)...)
		for name, s := range sizes {
			if s.methods > most.methods || s.methods == most.methods && name < at[0] {
				most.methods, at[0] = s.methods, name
			}
			if s.fields > most.fields || s.fields == most.fields && name < at[1] {
				most.fields, at[1] = s.fields, name
			}
		}
	}
	return wrong, fmt.Sprintf("at most %d methods (%s) and %d fields (%s)", most.methods, at[0], most.fields, at[1]), nil
}

func judgeTypes(folder string, sizes map[string]typeSize) []string {
	wrong := map[string]bool{}
	for name, s := range sizes {
		if s.methods > maxMethods {
			wrong[fmt.Sprintf("%s: %s has %d methods, more than %d; divide it", folder, name, s.methods, maxMethods)] = true
		}
		if s.fields > maxFields {
			wrong[fmt.Sprintf("%s: %s has %d fields, more than %d; divide it", folder, name, s.fields, maxFields)] = true
		}
	}
	return sorted(wrong)
}

// sizeTypes counts the methods and fields of the types of a package. What an interface asks for are
// methods, too.
func sizeTypes(sources [][]byte) (map[string]typeSize, error) {
	sizes := map[string]typeSize{}
	for _, content := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), "", content, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					s := sizes[name]
					s.methods++
					sizes[name] = s
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					named, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					s := sizes[named.Name.Name]
					switch body := named.Type.(type) {
					case *ast.StructType:
						s.fields += body.Fields.NumFields()
					case *ast.InterfaceType:
						s.methods += body.Methods.NumFields()
					}
					sizes[named.Name.Name] = s
				}
			}
		}
	}
	return sizes, nil
}

// receiver is the name of a method's type, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	e := f.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if generic, ok := e.(*ast.IndexExpr); ok {
		e = generic.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
