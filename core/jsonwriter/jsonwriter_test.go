package jsonwriter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/core/visible"
)

// written is what a Writer makes.
func written(form jsonwriter.Form, body func(w *jsonwriter.Writer)) string {
	var b strings.Builder
	w := jsonwriter.New(&b, form)
	body(w)
	w.Flush()
	return b.String()
}

func everything(w *jsonwriter.Writer) {
	w.PutObject(func() {
		w.Str("a", "x")
		w.Null("b")
		w.Bool("c", true)
		w.Int("d", -1)
		w.Uint("e", math.MaxUint64)
		w.Float("f", float64(float32(0.6625)))
		w.Float("g", math.NaN())
		w.Float("h", math.Inf(-1))
		w.StrOrNull("i", "")
		w.Object("j", func() {})
		w.List("k", 3, func(i int) { w.PutList(i, func(int) { w.PutObject(func() { w.Int("n", int64(i)) }) }) })
		w.Key("l")
		w.PutHex(0x1f, 8)
		w.Key("m")
		w.PutHex(math.MaxUint64, 1)
		w.Key("n")
		pieces := [][]byte{{0, 255}, {0x10}, nil}
		w.PutBytes(func() []byte { p := pieces[0]; pieces = pieces[1:]; return p })
	})
}

func TestForms(t *testing.T) {
	compact := `{"a":"x","b":null,"c":true,"d":-1,"e":18446744073709551615,"f":0.6625000238418579,"g":null,"h":null,"i":null,"j":{},` +
		`"k":[[],[{"n":1}],[{"n":2},{"n":2}]],"l":"0x0000001f","m":"0xffffffffffffffff","n":"00ff10"}`
	if got := written(jsonwriter.Compact, everything); got != compact {
		t.Errorf("%s", got)
	}
	var indented bytes.Buffer
	json.Indent(&indented, []byte(compact), "", "  ")
	if got := written(jsonwriter.Pretty, everything); got != indented.String() {
		t.Errorf("%s", got)
	}
	rows := written(jsonwriter.Rows, func(w *jsonwriter.Writer) {
		w.PutList(2, func(i int) { w.PutObject(func() { w.Int("a", 1); w.List("b", 2, func(i int) { w.PutInt(int64(i)) }) }) })
	})
	if rows != "[{\"a\":1,\"b\":[0,1]},\n{\"a\":1,\"b\":[0,1]}]" {
		t.Errorf("%s", rows)
	}
}

var texts = []string{"", "plain", "\x00\x1f\"\\\n\r\t\b\f<>&\u2028\u2029\x7fäö😀", "bad \xff utf-8", `"},"status":"forged`, "eight by\x7f", "eight by\"te", "\u0080\u009b[31m",
	"exe.\u202etxt", "\ufffd", "\xed\xa0\x80", "\\", "\"", strings.Repeat("x", 100000) + "\x1b"}

// checkText writes a text as a key and as a value: both must come back, and nothing hidden may
// reach a terminal.
func checkText(t *testing.T, s string) {
	t.Helper()
	got := written(jsonwriter.Compact, func(w *jsonwriter.Writer) { w.PutObject(func() { w.Str(s, s) }) })
	want := map[string]string{strings.ToValidUTF8(s, "\uFFFD"): strings.ToValidUTF8(s, "\uFFFD")}
	var have map[string]string
	if err := json.Unmarshal([]byte(got), &have); err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%.100q became %.200q: %v", s, got, err)
	}
	if strings.ContainsFunc(got, visible.Hidden) {
		t.Errorf("%.100q: a hidden character in %.200q", s, got)
	}
}

func TestText(t *testing.T) {
	for _, s := range texts {
		checkText(t, s)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(checkText)
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterFails(t *testing.T) {
	w := jsonwriter.New(&failing{1 << 20}, jsonwriter.Compact)
	w.PutList(1<<20, func(i int) { w.PutInt(int64(i)) })
	if err := w.Flush(); err != errFull {
		t.Errorf("%v", err)
	}
}

var jsonTexts = []string{
	`[]`, ` [ ] `, `{}`, `null`, `true`, `"a"`, `0`, `-0`, `1.5`, `-12e+3`, `[1,2,[3,{"a":"b"}]]`, `{"b":1,"a":{"d":[],"c":null}}`, `"\"\\\/\b\f\n\r\t"`,
	`"\u00e9\u20ac"`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, `{"\\\\\\a":{"du:null}}}":null}}`, `{"x\":1,\"status\":\"forged":null}`, `{"\u0061":1,"a":2}`, "{\"\xff\":1,\"\xfe\":2}",
	`1e400`, `-1e-400`, `123456789012345678901234567890`, `"` + strings.Repeat("x", 5000) + `"`,
	``, `[`, `]`, `[1`, `[1,`, `[1,]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `01`, `-`, `-01`, `1.`, `.5`, `1e`, `1e+`, `0x10`, `+1`, `NaN`, `Inf`, `-Inf`, `tru`, `"`, `"\x"`, `"\u12"`,
	"\"a\nb\"", `[] []`, `"\ud83d"`, `"\ude00\ud83d"`, `1_0`, "\"\u2028\u0085\x7f\"", strings.Repeat("[", 129) + strings.Repeat("]", 129), strings.Repeat("[", 1<<20),
}

// checkParse compares with encoding/json, which reads the same language but for lone surrogates,
// depth, and numbers out of range.
func checkParse(t *testing.T, s string) {
	t.Helper()
	v, ok := jsonwriter.Parse(s)
	if !ok {
		var want any
		odd := strings.Contains(strings.ToLower(s), `\ud`) || strings.Count(s, "[")+strings.Count(s, "{") > 128
		if err := json.Unmarshal([]byte(s), &want); err == nil && !odd {
			t.Errorf("%.200q is not read", s)
		}
		return
	}
	got := written(jsonwriter.Compact, func(w *jsonwriter.Writer) { w.Put(v) })
	var want, have any
	if err := json.Unmarshal([]byte(s), &want); err != nil {
		t.Fatalf("%.200q is read, but is not JSON: %v", s, err)
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Fatalf("%.200q became %.200q: %v", s, got, err)
	}
	// encoding/json takes two keys for one only after it has read both; the text here has each
	// once.
	if valid := strings.ToValidUTF8(s, "") == s; valid && !reflect.DeepEqual(want, have) {
		t.Errorf("%.200q became %.200q", s, got)
	}
	if twice := duplicate(got); twice != "" {
		t.Errorf("%.200q became %.200q, with %q twice", s, got, twice)
	}
}

// duplicate is a name that an object of a JSON text has twice, or "".
func duplicate(s string) string {
	type level struct {
		names map[string]bool
		key   bool
	}
	var open []level
	d := json.NewDecoder(strings.NewReader(s))
	for {
		tok, err := d.Token()
		if err != nil {
			return ""
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if n := len(open); n > 0 && open[n-1].names != nil && open[n-1].key {
				name := tok.(string)
				if open[n-1].names[name] {
					return name
				}
				open[n-1].names[name], open[n-1].key = true, false
				continue
			}
		}
		if n := len(open); n > 0 {
			open[n-1].key = true
		}
	}
}

func TestParse(t *testing.T) {
	for _, s := range jsonTexts {
		checkParse(t, s)
	}
	for _, s := range []string{"", "[", "nul", "1e400", `"\ud83d"`, strings.Repeat("[", 1<<20), "[1,]", "0x1", "{}x"} {
		if v, ok := jsonwriter.Parse(s); ok {
			t.Errorf("%.40q is read: %v", s, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range jsonTexts {
		f.Add(s)
	}
	f.Fuzz(checkParse)
}
