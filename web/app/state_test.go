package app

import (
	"encoding/json"
	"testing"
)

func TestStateRoundTrip(t *testing.T) {
	for _, s := range []State{
		NewState(),
		{DumpName: "a&b=c#.dmp", Thread: 3, Frame: 12, Inline: 2, Tab: "files", Side: "why", HideInlines: true,
			ThreadFilter: "io", Search: "std::vector<int>", Policy: "cfi", Closed: true},
		{DumpName: "crash.zip/x y.dmp", Thread: 0, Inline: -1, Tab: "modules", Side: "registers"},
	} {
		if got := ParseState("#" + s.Address()); got != s {
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
	if a := NewState().Address(); a != "" {
		t.Errorf("the usual state is %q", a)
	}
}

func TestStateOfAnyAddress(t *testing.T) {
	for _, hash := range []string{"#thread=-5&frame=x&tab=nonsense&side=up", "#%zz", "#thread=99999999999999999999", "#=&&&"} {
		if got := ParseState(hash); got != NewState() {
			t.Errorf("%q: %+v", hash, got)
		}
	}
	if got := ParseState("#theme=dark"); got.Theme != "dark" {
		t.Errorf("theme %q", got.Theme)
	}
}
