package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

const (
	// maxLanes is how many lines of jumps are drawn next to each other. Others have only their labels.
	maxLanes = 5
	// maxJump is the longest line of a jump in rows: some screens.
	maxJump = 200
	// maxFrom is how many jumps to an instruction are named.
	maxFrom = 3
)

// jumps are the jumps inside a listing: the lines in its margin, and for each target where they come from.
type jumps struct {
	lanes [][maxLanes]byte // by row, rows.Lane… ; a row has no more than count
	count int
	from  map[int][]int // by the row of the target: the rows of the jumps to it
}

// jumpsOf draws the jumps of a listing. The shortest are nearest to the code. Jumps to the same instruction share
// a line.
func (l *CodeList) jumpsOf() jumps {
	j := jumps{lanes: make([][maxLanes]byte, len(l.rows)), from: map[int][]int{}}
	at := map[uint64]int{}
	for i, r := range l.rows {
		if r.kind == rows.CodeInstruction {
			at[l.code.Rows[r.of].Address] = i
		}
	}
	type jump struct{ source, target int }
	var all []jump
	for i, r := range l.rows {
		if r.kind != rows.CodeInstruction {
			continue
		}
		in := &l.code.Rows[r.of]
		target, inside := at[in.Target]
		if !in.HasTarget || in.Call || !inside {
			continue
		}
		j.from[target] = append(j.from[target], i)
		if target != i && max(target-i, i-target) <= maxJump {
			all = append(all, jump{i, target})
		}
	}
	slices.SortStableFunc(all, func(a, b jump) int {
		return cmp.Compare(max(a.source-a.target, a.target-a.source), max(b.source-b.target, b.target-b.source))
	})
	to := make([][maxLanes]int, len(l.rows)) // the target of the line there, counted from 1
	for _, one := range all {
		top, bottom := min(one.source, one.target), max(one.source, one.target)
		for lane := range maxLanes {
			free := true
			for i := top; i <= bottom && free; i++ {
				free = to[i][lane] == 0 || to[i][lane] == one.target+1
			}
			if !free {
				continue
			}
			for i := top; i <= bottom; i++ {
				to[i][lane] = one.target + 1
				cell := &j.lanes[i][lane]
				if i > top {
					*cell |= rows.LaneUp
				}
				if i < bottom {
					*cell |= rows.LaneDown
				}
				if i == one.source {
					*cell |= rows.LaneOut
				}
				if i == one.target {
					*cell |= rows.LaneIn
				}
			}
			j.count = max(j.count, lane+1)
			break
		}
	}
	return j
}

// lanesOf are the lines in a row's margin, the nearest first: a character each, which is ' ' plus its bits.
func (j *jumps) lanesOf(row int) string {
	out := make([]byte, j.count)
	for i := range out {
		out[i] = ' ' + j.lanes[row][i]
	}
	return strings.TrimRight(string(out), " ")
}

// fromText names the jumps to an instruction: "from +0x12 ↑" for one that is above it.
func (l *CodeList) fromText(row int) string {
	var parts []string
	for n, source := range l.jumps.from[row] {
		if n == maxFrom {
			parts = append(parts, fmt.Sprintf("%d more", len(l.jumps.from[row])-n))
			break
		}
		in := &l.code.Rows[l.rows[source].of]
		place := "+" + short(in.In.Offset)
		if in.In.Module < 0 {
			place = l.v.hex(in.Address)
		}
		switch {
		case source < row:
			place += " ↑"
		case source > row:
			place += " ↓"
		}
		parts = append(parts, place)
	}
	if len(parts) == 0 {
		return ""
	}
	return "from " + strings.Join(parts, ", ")
}
