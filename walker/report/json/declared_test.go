package jsonreport

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestKeysAreDeclared: every key that this package writes is a property in the npm package's types,
// so that who adds a key does not forget those who read the report in TypeScript.
func TestKeysAreDeclared(t *testing.T) {
	types, err := os.ReadFile("../../../web/embed/crashpane.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s*"?([A-Za-z_0-9]+)"?\??:`).FindAllStringSubmatch(string(types), -1) {
		declared[m[1]] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	keys, open := 0, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			arg := 0
			if method(call) == "NumberOrNull" { // a function, whose first argument is the writer
				arg = 1
			} else if !writesKey[method(call)] {
				return true
			}
			if lit, ok := call.Args[arg].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				key, _ := strconv.Unquote(lit.Value)
				keys++
				switch {
				case declared[key]:
				case slices.Contains(undeclared[name], key):
					open[key] = true
				default:
					t.Errorf("%s writes %q, which web/embed/crashpane.d.ts does not declare", name, key)
				}
			}
			return true
		})
	}
	if keys < 200 {
		t.Errorf("only %d keys were found", keys)
	}
	for name, list := range undeclared {
		for _, key := range list {
			if !open[key] {
				t.Errorf("%s does not write %q any more, or it is declared now", name, key)
			}
		}
	}
}

// undeclared are keys that the types leave open: comparisons, code, memory, merged stacks and outlines are not part of a
// report, a crash's analysis is unknown there, and so are macOS' records.
var undeclared = map[string][]string{
	"code.go":       strings.Fields("at called_frame guessed instructions operand source_link taken taken_why unread values"),
	"compare.go":    strings.Fields("at first_row next partings row rows same sp walks ways"),
	"crash.go":      strings.Fields("access accesses adjusted base bit_flips cause guard how implicit index jump mapped permissions register slot stack_overflow"),
	"merged.go":     strings.Fields("branches crashed deadlock holders level lock lock_holders_unknown parent stacks state state_is_guess waiting why"),
	"memory.go":     strings.Fields("rows"),
	"outline.go":    strings.Fields("arch complete folded inlined lines list marks next_line no_rule parameter_size ra rows warning_count"),
	"difference.go": strings.Fields("a b first_differing_frame part rows same same_modules"),
	"extras.go":     strings.Fields("backtrace message message2 signature_string"),
}

// writesKey are the printer's methods whose first argument is a key.
var writesKey = map[string]bool{"Key": true, "Object": true, "List": true, "Objects": true, "Str": true, "Null": true, "Bool": true, "Int": true, "Uint": true, "Float": true,
	"StrOrNull": true, "IntOrNull": true, "ObjectOrNull": true, "Strings": true, "StrIf": true, "BoolIf": true, "hex": true, "hexOrNull": true}

func method(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}
