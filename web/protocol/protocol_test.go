package protocol

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
)

func TestRoundTrip(t *testing.T) {
	for _, req := range Requests() {
		c := Call{ID: 7, Redact: true, Request: req}
		if back, err := ReadCall(AppendCall(nil, c)); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%T: %+v, %v", req, back, err)
		}
	}
	for _, r := range Replies() {
		a := Answer{ID: 300, Error: "no", Reply: r}
		back, err := ReadAnswer(AppendAnswer(nil, a, nil))
		if err != nil || !reflect.DeepEqual(back, a) {
			t.Errorf("%T: %+v, %v", r, back, err)
		}
	}
	look := &Query{Selection: Selection{Thread: -1, Top: true}, Search: "x", Stack: &Span{3, 4}, Modules: &ModulesQuery{Selected: -1}}
	if back, err := ReadCall(AppendCall(nil, Call{Request: look})); err != nil || !reflect.DeepEqual(back.Request, look) {
		t.Errorf("%+v, %v", back, err)
	}
}

// Redaction reaches every text of an answer.
func TestTextsAreReplaced(t *testing.T) {
	a := Answer{Error: "secret", Reply: &QueryResult{Threads: &rows.ThreadPage{Rows: []rows.ThreadRow{{Name: "secret"}}}}}
	if b := string(AppendAnswer(nil, a, func(string) string { return "other" })); strings.Contains(b, "secret") || strings.Count(b, "other") < 2 {
		t.Errorf("%q", b)
	}
}

func FuzzRead(f *testing.F) {
	for _, req := range Requests() {
		f.Add(AppendCall(nil, Call{ID: 1, Request: req}))
	}
	for _, r := range Replies() {
		f.Add(AppendAnswer(nil, Answer{ID: 1, Reply: r}, nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ReadCall(b); err == nil && c.Request == nil {
			t.Error("a call without a request")
		}
		if a, err := ReadAnswer(b); err == nil && a.Reply == nil {
			t.Error("an answer without a reply")
		}
	})
}

func TestUnknownMessages(t *testing.T) {
	for _, b := range [][]byte{nil, {200, 1}, {3}, {byte(len(ops) - 1), 1, 0}} {
		if _, err := ReadCall(b); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v: %v", b, err)
		}
	}
}

// Every request and reply type must be in the table, or it cannot be sent.
func TestTableIsWhole(t *testing.T) {
	rows := map[string]bool{}
	for _, o := range ops {
		if o.request != nil {
			rows["request "+reflect.TypeOf(o.request).Elem().Name()] = true
		}
		rows["reply "+reflect.TypeOf(o.reply).Elem().Name()] = true
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Skip("the package's source is not here: ", err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "request" && f.Name.Name != "reply" {
				continue
			}
			name := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
			if found++; !rows[f.Name.Name+" "+name] {
				t.Errorf("%s is a %s and in no row of ops", name, f.Name.Name)
			}
		}
	}
	if found < 2*12 {
		t.Errorf("%d types were found", found)
	}
}
