package jsonreport

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
)

var softErrorTexts = []string{
	`[]`, ` [ ] `, `{}`, `null`, `true`, `"a"`, `0`, `-0`, `1.5`, `-12e+3`, `[1,2,[3,{"a":"b"}]]`, `{"b":1,"a":{"d":[],"c":null}}`, `"\"\\\/\b\f\n\r\t"`,
	`"\u00e9\u20ac"`, `"\ud83d\ude00"`, `"Custom {\n kind: Other }"`, `{"a":1,"a":2}`,
	``, `[`, `]`, `[1`, `[1,`, `[1,]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `01`, `1.`, `.5`, `1e`, `0x10`, `+1`, `NaN`, `Inf`, `tru`, `"`, `"\x"`, `"\u12"`, "\"a\nb\"",
	`[] []`, `"\ud83d"`, `1_0`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
}

// reprint is a JSON text as softErrors passes it on: "null" if it is not JSON.
func reprint(s string) string {
	var b bytes.Buffer
	write(&b, &report.Report{SoftErrors: s}, Options{}, (*printer).softErrors)
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `{"soft_errors":`), "}")
}

// TestSoftErrors compares with encoding/json, which reads the same language but for half characters
// and for depth.
func TestSoftErrors(t *testing.T) {
	for _, s := range softErrorTexts {
		checkReprint(t, s)
	}
	if got := reprint(`{"b":1,"a":{"d":[],"c":null}}`); got != `{"a":{"c":null,"d":[]},"b":1}` {
		t.Errorf("keys out of order: %s", got)
	}
}

func checkReprint(t *testing.T, s string) {
	t.Helper()
	got := reprint(s)
	var want, have any
	ok := json.Unmarshal([]byte(s), &want) == nil
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Fatalf("%q became %q: %v", s, got, err)
	}
	if strings.Contains(s, `\ud`) || strings.Contains(s, `\uD`) || strings.Count(s, "[")+strings.Count(s, "{") > 100 || strings.ContainsAny(s, "eE") && !ok {
		return
	}
	if ok && !reflect.DeepEqual(want, have) || !ok && got != "null" {
		t.Errorf("%q became %q", s, got)
	}
}

func FuzzSoftErrors(f *testing.F) {
	for _, s := range softErrorTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ToValidUTF8(s, "") == s {
			checkReprint(t, s)
		}
	})
}
