package intake

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/crashpane/crashpane/core/input"
)

// xzOf compresses a text.
func xzOf(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// steps runs an Expansion, whose turns are over as soon as they can be: after at most a chunk. at has the
// number of turns before each member.
func steps(x *Expansion, others bool) (names []string, at []int, turns, putOff int) {
	for state := Waiting; state != Done; turns++ {
		var members []*input.Source
		members, state = x.Next(Turn{Over: func() bool { return true }, Others: others})
		for _, m := range members {
			names, at = append(names, strings.TrimPrefix(m.Name, "a/")), append(at, turns)
		}
		if state == PutOff {
			putOff++
		}
	}
	return names, at, turns, putOff
}

// TestSlowMember: a member that unpacks to much, and is small and first, comes last, and the dump comes
// first; also among ten times as many.
func TestSlowMember(t *testing.T) {
	slow := xzOf(t, make([]byte, 3*eagerSize))
	for _, others := range []int{8, 80} {
		members := []member{{"slow.bin.xz", slow, 0}}
		for i := range others {
			members = append(members, member{fmt.Sprintf("%d.sym.xz", i), xzOf(t, []byte(noise(40000+i))), 0})
		}
		members = append(members, member{"a.dmp.xz", xzOf(t, []byte("MDMP"+noise(60000))), 0})
		var files [][2]string
		for _, m := range members {
			files = append(files, [2]string{m.name, m.data})
		}
		for kind, archive := range map[string]string{"zip": zipOf(members...), "tar": tarOf(tar.FormatUSTAR, files...)} {
			x := Begin(input.FromBytes("a", []byte(archive)), Limits{}, nil)
			names, at, turns, _ := steps(x, false)
			if err := x.Err(); err != nil {
				t.Fatal(err)
			}
			if len(names) != others+2 || names[0] != "a.dmp" || names[len(names)-1] != "slow.bin" {
				t.Fatalf("%s: %d members, the first is %s, the last %s", kind, len(names), names[0], names[len(names)-1])
			}
			if at[0] > 4 {
				t.Errorf("%s: the dump comes after %d turns", kind, at[0])
			}
			if most := 2*others + 8 + eagerSize/chunkSize; at[others] > most {
				t.Errorf("%s: the last but one comes after %d turns, want at most %d", kind, at[others], most)
			}
			if turns < 4*eagerSize/chunkSize {
				t.Errorf("%s: only %d turns", kind, turns)
			}
		}
	}
}

// TestPutOff: where other files wait, an archive that costs much lets them go first, once for each
// eightfold of what it may cost. Alone it is unpacked without a second beginning.
func TestPutOff(t *testing.T) {
	data := []byte(xzOf(t, make([]byte, 9*eagerSize)))
	for _, others := range []bool{false, true} {
		x := Begin(input.FromBytes("a.xz", data), Limits{MaxRatio: 1 << 20}, nil)
		names, _, turns, putOff := steps(x, others)
		if err := x.Err(); err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		want, most := 0, 9
		if others {
			want, most = 2, 1+8+9
		}
		if putOff != want || turns > most*eagerSize/chunkSize+10 {
			t.Errorf("others %v: it was postponed %d times, and took %d turns", others, putOff, turns)
		}
	}
}
