package batch

import (
	"cmp"
	"slices"
)

// Group is the dumps with one signature.
type Group struct {
	Signature string
	Dumps     int
	// First and Last are the times of the earliest and the latest dump, in seconds since 1970, UTC; 0
	// if none of the dumps has a time.
	First, Last uint32
	// Versions is how many versions of the program the dumps are of. Reason and Process are those of one
	// of the dumps.
	Versions        int
	Reason, Process string
	// Example is the name of the first of the dumps, where it is known.
	Example string
}

// Groups groups records by their signature, the largest group first, then the latest. Records without
// a signature are a group, too.
func Groups(records []*Record) []Group {
	at, versions := map[string]int{}, map[[2]string]bool{}
	var out []Group
	for _, r := range records {
		i, ok := at[r.Signature]
		if !ok {
			i = len(out)
			at[r.Signature] = i
			out = append(out, Group{Signature: r.Signature, Reason: r.Reason, Process: r.Process, Example: r.Name})
		}
		g := &out[i]
		g.Dumps++
		if r.Time != 0 {
			if g.First == 0 || r.Time < g.First {
				g.First = r.Time
			}
			g.Last = max(g.Last, r.Time)
		}
		if v := [2]string{r.Signature, r.Version}; r.Version != "" && !versions[v] {
			versions[v] = true
			g.Versions++
		}
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Dumps, a.Dumps), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Signature, b.Signature))
	})
	return out
}
