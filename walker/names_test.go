package walker

import (
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestLimitName: a name whose function may have ended counts less the farther away it is, and to
// the peers as much as any other.
func TestLimitName(t *testing.T) {
	for _, c := range []struct {
		policy *Policy
		name   string
		have   symbol.Extent
		behind uint64
		want   symbol.Extent
	}{
		{&Best, "f", symbol.Covers, 1 << 20, symbol.Covers},
		{&Best, "f", symbol.Nearest, farName - 1, symbol.Nearest},
		{&Best, "f", symbol.Nearest, farName, symbol.Passed},
		{&Best, "f", symbol.Passed, 1, symbol.Passed},
		{&Best, "<unknown in f.exe>", symbol.Covers, 0, symbol.Passed},
		{&Breakpad, "f", symbol.Passed, 1 << 20, symbol.Covers},
		{&Breakpad, "<unknown in f.exe>", symbol.Covers, 0, symbol.Covers},
		{&RustMinidump, "f", symbol.Nearest, 1 << 20, symbol.Covers},
	} {
		s := symbol.Symbol{Name: c.name, Start: 0x1000, Public: true, Extent: c.have}
		if c.policy.LimitName(&s, 0x1000+c.behind); s.Extent != c.want {
			t.Errorf("%s, extent %d, %d bytes: %d", c.policy.Name, c.have, c.behind, s.Extent)
		}
	}
}
