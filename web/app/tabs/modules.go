package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Modules lists the modules with the state of their symbols.
type Modules struct {
	pane
	rows.ModulePage
	Module int // the one whose details are shown, or -1
	table.Order
	seek  bool // scroll to Module when its row number is known
	list  table.List
	table table.Table
	// Files has the symbol files that can be assigned.
	Files *Files
}

// NewModules makes the part with an id. The panel gives it its Files.
func NewModules(s *zone.Shared, id string) zone.Tab {
	z := &Modules{pane: pane{s, id}, Module: -1}
	z.list = table.List{ID: "modules", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Modules", Class: "table modules"}
	return z
}

// Compute implements vugu's callback before each drawing.
func (z *Modules) Compute() {
	z.table.Empty = z.emptyText()
	symbols := table.ColumnOf(rows.ModuleColumns, "state")
	table.Fill(&z.table, z.Rows, rows.ModuleColumns, func(m rows.ModuleRow, to *table.Row) {
		to.Class, to.Act, to.Arg = z.rowClass(m), "module", m.Index
		state := &to.Cells[symbols]
		state.Class += " " + m.State
		state.Parts = []table.Part{table.Text("state-words", state.Text, "")}
		if z.canUse(m) {
			state.Parts = append(state.Parts, table.Button("link", useText(m), useAct(m), z.useArg(m)))
		}
	})
	z.Heads(&z.table, "sort-modules")
	first := &z.table.Heads[0]
	first.Parts = append(first.Parts, table.Part{Kind: "field", Class: "field small head-filter", Text: z.Filter, Field: "modules", Label: "Filter the modules"})
}

// Forget is for Tab.
func (z *Modules) Forget() { z.Order = table.Order{} }

// Want implements Zone.
func (z *Modules) Want(q *protocol.Query) {
	q.Modules = &protocol.ModulesQuery{Span: z.list.Span(), Selected: z.Module, Sort: z.By, Filter: z.Filter}
}

// Apply implements Zone.
func (z *Modules) Apply(r *protocol.QueryResult) {
	if r.Modules == nil {
		return
	}
	if z.page.Screen.Updated(z, r.ReportID) {
		z.page.Screen.ChangedRows.Mark(z.changed(r.Modules))
	}
	z.ModulePage = *r.Modules
	z.found()
}

// Count is for Tab.
func (z *Modules) Count() (n int, alert bool) { return z.page.Summary.Modules, false }

// emptyText is the text in place of rows.
func (z *Modules) emptyText() string {
	if z.Total > 0 || !z.page.Listed {
		return ""
	}
	if z.Filter != "" {
		return "No module matches."
	}
	return "The dump lists no modules."
}

// List is for Tab.
func (z *Modules) List() *table.List { return &z.list }

// ShowRow shows a module and selects it.
func (z *Modules) ShowRow(row int) { z.Show(strconv.Itoa(row)) }

// Assign uses the symbols of a file for a module, whatever their ids say. arg is "ITEM.MODULE".
func (z *Modules) Assign(arg string) {
	if item, module, ok := words.ParsePair(arg); ok && module >= 0 {
		z.page.Decide(&protocol.Assign{Item: item, Dump: z.page.Dumps.Open, Module: module})
		z.page.Screen.AskAll()
	}
}

// Unassign undoes assign.
func (z *Modules) Unassign(arg string) {
	if _, module, ok := words.ParsePair(arg); ok && module >= 0 {
		z.page.Decide(&protocol.Unassign{Dump: z.page.Dumps.Open, Module: module})
		z.page.Screen.AskAll()
	}
}

// changed returns the ids of rows whose symbols differ from what is shown.
func (z *Modules) changed(m *rows.ModulePage) (ids []string) {
	old := map[int]rows.ModuleRow{}
	for _, r := range z.Rows {
		old[r.Index] = r
	}
	for _, r := range m.Rows {
		if was, ok := old[r.Index]; ok && was.Word != r.Word {
			ids = append(ids, words.RowID("module", r.Index))
		}
	}
	return ids
}

func (z *Modules) rowClass(m rows.ModuleRow) string {
	class := "row choice-row"
	if m.Index == z.Module {
		class += " selected"
	}
	return z.page.Screen.ChangedRows.Class(class, words.RowID("module", m.Index))
}

// Show opens the tab and selects a module in it.
func (z *Modules) Show(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return
	}
	z.Module, z.seek = n, true
	z.Filter = ""
	z.page.ShowPart(z.id)
}

// found scrolls to the module that show has selected. Only the engine knows the order of the rows,
// so its number comes with a result.
func (z *Modules) found() {
	if !z.seek || z.Selected < 0 {
		return
	}
	z.seek = false
	z.list.Around(z.Selected)
	z.page.Host.Reveal("modules", z.Selected)
	if z.Selected < z.From || z.Selected >= z.From+len(z.Rows) {
		z.page.Screen.Ask(z)
	}
}

// Choose shows the details of a module, or hides them if they are shown.
func (z *Modules) Choose(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n == z.Module {
		n = -1
	}
	z.Module = n
	z.page.Screen.Ask(z)
}

// Chosen returns the details of the selected module. It is never nil, which keeps the template
// simple; Index is -1 without them.
func (z *Modules) Chosen() *rows.ModuleDetail {
	if z.Module < 0 || z.Detail == nil || z.Detail.Index != z.Module {
		return &rows.ModuleDetail{Index: -1}
	}
	return z.Detail
}

// IgnoreCFI switches whether the walker uses a module's call frame information.
func (z *Modules) IgnoreCFI(arg string) {
	d := z.Chosen()
	if strconv.Itoa(d.Index) != arg || d.Index < 0 {
		return
	}
	z.page.Decide(&protocol.IgnoreCFI{Dump: z.page.Dumps.Open, Module: d.Index, On: !d.Ignored})
	z.page.Screen.AskAll()
}

// class makes room next to the table for the details.
func (z *Modules) class() string {
	if z.Chosen().Index < 0 {
		return "beside"
	}
	return "beside open"
}

// canAssign reports whether the selected module can be assigned a symbol file.
func (z *Modules) canAssign() bool { return z.Chosen().Assign && len(z.Files.Symbols) > 0 }

// assignText says how to assign symbols to the selected module.
func (z *Modules) assignText() string {
	switch d := z.Chosen(); {
	case !d.Assign:
		return ""
	case len(z.Files.Symbols) == 0:
		return "Add its symbol file, then choose it here."
	}
	return "Assign a symbol file to this module:"
}

// canUse reports whether the row has a button that assigns symbols of another build, or that undoes
// this.
func (z *Modules) canUse(m rows.ModuleRow) bool {
	return m.State == "forced" && z.page.Assigned(m.Index) >= 0 || m.State == "mismatch" && m.Item >= 0
}

// useAct, useArg and useText are the action, the argument and the text of that button.
func useAct(m rows.ModuleRow) string {
	if m.State == "forced" {
		return "unuse"
	}
	return "use"
}

func (z *Modules) useArg(m rows.ModuleRow) string {
	if m.State == "forced" {
		return words.Pair(z.page.Assigned(m.Index), m.Index)
	}
	return words.Pair(m.Item, m.Index)
}

func useText(m rows.ModuleRow) string {
	if m.State == "forced" {
		return "Stop using"
	}
	return "Use anyway"
}

// MoveSelection moves the selection.
func (z *Modules) MoveSelection(by int) {
	row := -1
	for i, m := range z.Rows {
		if m.Index == z.Module {
			row = i
		}
	}
	// If none is selected, begin with the first visible row.
	if row += by; z.Module < 0 || z.Selected < 0 {
		row = max(0, z.list.Visible.From-z.From)
	}
	if row >= 0 && row < len(z.Rows) {
		z.page.Host.Reveal("modules", z.From+row)
		z.Choose(strconv.Itoa(z.Rows[row].Index))
	}
}

func ignoreText(d *rows.ModuleDetail) string {
	if d.Ignored {
		return "Use its unwind rules again"
	}
	return "Ignore its unwind rules"
}

// Reorder changes the order of the modules, and queries them from the first on.
func (z *Modules) Reorder(change func(o *table.Order)) {
	change(&z.Order)
	z.list.Visible.From = 0
	z.page.Host.Reveal("modules", 0)
	z.page.Screen.Ask(z)
}

// MakeCommand is the command that makes the missing symbol file of the selected module, or "".
func MakeCommand(z *Modules) string {
	d := z.Chosen()
	return commandFor(d.Command, d.File, z.page.Host.System() == host.Windows)
}
