package rows

import (
	"slices"
	"strings"
)

// Head is what a table says about a column: its title, the class of its cells, and its sizes.
type Head struct {
	Address bool // cells that are addresses in hexadecimal are links to the memory there
	Title   string
	// Class of its cells: "num" for numbers, "fn" for names of files and functions, "code" for the
	// monospaced font, "dim", "right" for buttons at the end.
	Class string
	// Width is its size in grid-template-columns; Medium is the size in windows up to 1080 px wide,
	// Narrow in those up to 720 px, Beside next to an open side panel. "" is the size of wider
	// windows, "-" hides the column.
	Width, Medium, Narrow, Beside string
}

// Column is a column of a table with rows of type R.
type Column[R any] struct {
	Head
	// Text is the text of a cell, Tip its tooltip where that says more; nil for none.
	Text, Tip func(R) string
	// Find returns the texts in which a search looks; nil: Text is not searched.
	Find func(R) []string
	// Copy is the text of a cell in copied tables; nil: the column is not copied.
	Copy func(R) string
}

// layouts are the layouts of a table, by the custom properties and classes of the style sheet.
var layouts = [4]string{"wide", "medium", "narrow", "beside"}

func (h *Head) sizes() [len(layouts)]string {
	or := func(size, wider string) string {
		if size == "" {
			return wider
		}
		return size
	}
	medium := or(h.Medium, h.Width)
	return [len(layouts)]string{h.Width, medium, or(h.Narrow, medium), or(h.Beside, h.Width)}
}

// Tracks returns the style of a table: the sizes of its columns in each layout.
//
//	--cp-wide:48px 1fr;--cp-medium:48px 1fr;--cp-narrow:1fr;--cp-beside:48px 1fr
func Tracks(heads []Head) string {
	var tracks [len(layouts)]string
	for i := range heads {
		for k, size := range heads[i].sizes() {
			if size != "-" {
				tracks[k] += " " + size
			}
		}
	}
	for k := range tracks {
		tracks[k] = "--cp-" + layouts[k] + ":" + strings.TrimSpace(tracks[k])
	}
	return strings.Join(tracks[:], ";")
}

// Hidden returns the classes that hide a column's cells in some layouts, each after a space.
func (h *Head) Hidden() (class string) {
	for k, size := range h.sizes() {
		if size == "-" {
			class += " not-" + layouts[k]
		}
	}
	return class
}

// Heads returns what a table says about its columns.
func Heads[R any](columns []Column[R]) []Head {
	heads := make([]Head, len(columns))
	for i := range columns {
		heads[i] = columns[i].Head
	}
	return heads
}

// Finds reports whether a row contains a Query.
func Finds[R any](query string, row R, columns []Column[R]) bool {
	for i := range columns {
		if find := columns[i].Find; find != nil && Holds(query, find(row)...) {
			return true
		}
	}
	return false
}

// Same reports whether the cells of two rows have the same texts.
func Same[R any](a, b R, columns []Column[R]) bool {
	return !slices.ContainsFunc(columns, func(c Column[R]) bool { return c.Text(a) != c.Text(b) })
}
