package app

// order is the order of a table's rows, and which of them it has.
type order struct {
	by     int // the column, from 1; negative: the other way around; 0: the usual order
	filter string
}

// heads makes the heads of a table buttons that sort its rows by an action.
func (o *order) heads(t *Table, act string) {
	for i := range t.heads {
		h := &t.heads[i]
		mark := ""
		switch o.by {
		case i + 1:
			mark, h.sort = " ▲", "ascending"
		case -i - 1:
			mark, h.sort = " ▼", "descending"
		}
		h.parts = []part{buttonPart("sort", h.text+mark, act, i+1)}
	}
}

// sortBy sorts by a column, then the other way around, then in the usual order.
func (o *order) sortBy(column int) {
	switch o.by {
	case column:
		o.by = -column
	case -column:
		o.by = 0
	default:
		o.by = column
	}
}
