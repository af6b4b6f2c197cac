package table

// Order is the order of a table's rows, and which of them it has.
type Order struct {
	By     int // the column, from 1; negative: the other way around; 0: the usual order
	Filter string
}

// Heads makes the heads of a table buttons that sort its rows by an action.
func (o *Order) Heads(t *Table, act string) {
	for i := range t.Heads {
		h := &t.Heads[i]
		mark := ""
		switch o.By {
		case i + 1:
			mark, h.Sort = " ▲", "ascending"
		case -i - 1:
			mark, h.Sort = " ▼", "descending"
		}
		h.Parts = []Part{Button("sort", h.Text+mark, act, i+1)}
	}
}

// SortBy sorts by a column, then the other way around, then in the usual order.
func (o *Order) SortBy(column int) {
	switch o.By {
	case column:
		o.By = -column
	case -column:
		o.By = 0
	default:
		o.By = column
	}
}
