package jsonreport

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// module writes element i of the schema's list of modules.
func (p *printer) module(i int) {
	m := &p.r.Modules[i]
	s := p.symbols(m)
	p.PutObject(func() {
		p.hex("base_addr", m.Base)
		p.Null("cert_subject")
		p.Str("code_id", m.CodeID)
		p.Bool("corrupt_symbols", s.corrupt)
		if m.State == report.SymbolsLoaded || m.State == report.SymbolsAssigned || len(m.Mappings) > 0 {
			p.Object("crashpane", func() { p.moduleAdditions(m) })
		}
		p.Str("debug_file", report.BaseName(m.StoredDebugFile))
		p.Str("debug_id", debugID(m))
		p.hex("end_addr", m.Base+m.Size)
		p.Str("filename", report.BaseName(m.Name))
		p.Bool("loaded_symbols", s.loaded)
		p.Bool("missing_symbols", s.missing)
		p.Null("symbol_url")
		p.StrOrNull("version", m.Version)
	})
}

// symbolFlags are the schema's flags of a module's symbols.
type symbolFlags struct{ missing, loaded, corrupt bool }

// symbols returns a module's flags. They are all false if the walk did not look for the module's
// symbols. A file that could not be read counts as loaded and corrupt. rust-minidump keeps the
// flags by file name, so modules with the same name share them.
func (p *printer) symbols(m *report.Module) symbolFlags {
	var s symbolFlags
	name := report.BaseName(m.Name)
	for i := range p.r.Modules {
		o := &p.r.Modules[i]
		if !o.SymbolsRequested || report.BaseName(o.Name) != name {
			continue
		}
		switch o.State {
		case report.SymbolsLoaded, report.SymbolsAssigned:
			s = symbolFlags{loaded: true}
		case report.SymbolsCorrupt:
			s = symbolFlags{loaded: true, corrupt: true}
		default:
			s = symbolFlags{missing: true}
		}
	}
	return s
}

// debugID returns a module's debug id, with its age in lower case, or zeros for a module without one.
func debugID(m *report.Module) string {
	if m.DebugID == "" {
		return strings.Repeat("0", 33)
	}
	return m.StoredID
}

// unloaded writes element i of the list of modules that had been unloaded before the crash.
func (p *printer) unloaded(i int) {
	u := &p.r.Unloaded[i]
	p.PutObject(func() {
		p.hex("base_addr", u.Base)
		p.Null("cert_subject")
		p.Str("code_id", u.CodeID)
		p.hex("end_addr", u.Base+u.Size)
		p.Str("filename", u.Name)
	})
}

// unpadded formats a number that is no address.
func unpadded(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
