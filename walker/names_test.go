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
		have   symbol.Extent
		behind uint64
		want   symbol.Extent
	}{
		{&Best, symbol.Covers, 1 << 20, symbol.Covers},
		{&Best, symbol.Nearest, farName - 1, symbol.Nearest},
		{&Best, symbol.Nearest, farName, symbol.Passed},
		{&Best, symbol.Passed, 1, symbol.Passed},
		{&Breakpad, symbol.Passed, 1 << 20, symbol.Covers},
		{&RustMinidump, symbol.Nearest, 1 << 20, symbol.Covers},
	} {
		s := symbol.Symbol{Name: "f", Start: 0x1000, Public: true, Extent: c.have}
		if c.policy.LimitName(&s, 0x1000+c.behind); s.Extent != c.want {
			t.Errorf("%s, extent %d, %d bytes: %d", c.policy.Name, c.have, c.behind, s.Extent)
		}
	}
}
