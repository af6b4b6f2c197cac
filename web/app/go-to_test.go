package app

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestGoTo: an address, a register and what the engine finds are gone to by keyboard, and are in the
// page's address, from which Back returns.
func TestGoTo(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	p.Have = []string{"memory"}
	p.Frame.Detail.Registers = []rows.Register{{Name: "rip", Value: "0x0000000000401000", Role: "pc"}, {Name: "rax", Value: "0x1"}}
	p.Key("g", false)
	if !p.Menus.GoTo.Open || !strings.Contains(render(t, p), `id="go-to"`) {
		t.Fatal("g opens no dialog")
	}
	p.Input("go-to", "rip")
	p.Key("Enter", true)
	if p.State.At != 0x401000 || p.State.Tab != "words" || p.Menus.GoTo.Open || !strings.Contains(h.address, "address=0x401000") {
		t.Errorf("the register leads to %#x in %s, address %q", p.State.At, p.State.Tab, h.address)
	}
	p.Key("g", false)
	p.Input("go-to", "0x7ffe`0000")
	p.Key("Enter", true) // before the engine has answered
	if p.State.At != 0x7ffe0000 {
		t.Errorf("the address leads to %#x", p.State.At)
	}
	answered(p, e)
	p.Key("g", false)
	e.sent = nil
	p.Input("go-to", "ma")
	if q := last[protocol.Query](e); q == nil || q.Memory.Places == nil || q.Memory.Places.Text != "ma" {
		t.Errorf("the engine is asked %+v", q)
	}
	say(p, &protocol.QueryResult{Memory: protocol.MemoryResult{Places: &protocol.PlacesPage{Of: "ma", Rows: []rows.PlaceRow{{Title: hostile, Address: "0x10"}, {Title: "main", Address: "0x402000"}}}}})
	if out := render(t, p); strings.Contains(out, hostile) {
		t.Error("a name is HTML")
	}
	p.Key("ArrowDown", true)
	p.Key("Enter", true)
	if p.State.At != 0x402000 {
		t.Errorf("the name leads to %#x", p.State.At)
	}
	p.Address.Changed("dump=a.dmp&tab=memory&address=0x401000")
	if p.State.At != 0x401000 {
		t.Errorf("Back leads to %#x", p.State.At)
	}
	p.Key("g", false)
	if p.Key("Escape", true); p.Menus.GoTo.Open {
		t.Error("Escape leaves the dialog open")
	}
}
