package state

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func TestStateRoundTrip(t *testing.T) {
	for _, s := range []State{
		New(),
		{DumpName: "a&b=c#.dmp", DumpID: "00ff", Signature: "a | b", Thread: 3, Frame: 12, Inline: 2, Tab: "files", Side: "why", StackState: StackState{HideInlines: true, ShowGuesses: true},
			ThreadFilter: "io", Search: "std::vector<int>", Policy: "cfi", Closed: true},
		{Thread: -1, Inline: -1, Tab: "outline", At: 0x1200, OutlineState: OutlineState{"a&b.sym", "std::vector<int>::at", true}, Side: "code"},
		{DumpName: "crash.zip/x y.dmp", Thread: 0, Inline: -1, Tab: "modules", Side: "registers"},
	} {
		if got := Parse("#" + s.Address()); got != s {
			t.Errorf("through the address %q:\n%+v\n%+v", s.Address(), s, got)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back State
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Errorf("through JSON: %+v, %v", back, err)
		}
	}
	if a := New().Address(); a != "" {
		t.Errorf("the usual state is %q", a)
	}
}

// TestQuery compares with net/url.
func TestQuery(t *testing.T) {
	for _, text := range []string{"", "a b", "%&=+#?/", "Grüße\x00\xff", "~-_.", "vector<int>::at(…)"} {
		var b strings.Builder
		setQuery(&b, "k", text)
		if want := (url.Values{"k": {text}}).Encode(); b.String() != want {
			t.Errorf("%q: %s, expected %s", text, b.String(), want)
		}
		if got, ok := parseQuery("x=1&" + b.String()); !ok || got["k"] != text || got["x"] != "1" {
			t.Errorf("%q came back as %v", text, got)
		}
	}
	for _, bad := range []string{"%", "a=%2", "%zz=1"} {
		if _, ok := parseQuery(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}
