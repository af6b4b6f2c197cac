package jsonreport

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// module writes element i of the schema's list of modules.
func (p *printer) module(i int) {
	m := &p.r.Modules[i]
	s := p.symbols[report.BaseName(m.Name)]
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

// symbolsByName returns the flags of the modules whose symbols the walk looked for. A file that could
// not be read counts as loaded and corrupt. rust-minidump keeps the flags by file name, so modules
// with the same name share them.
func symbolsByName(r *report.Report) map[string]symbolFlags {
	flags := map[string]symbolFlags{}
	for i := range r.Modules {
		m := &r.Modules[i]
		if !m.SymbolsRequested {
			continue
		}
		name := report.BaseName(m.Name)
		switch m.State {
		case report.SymbolsLoaded, report.SymbolsAssigned:
			flags[name] = symbolFlags{loaded: true}
		case report.SymbolsCorrupt:
			flags[name] = symbolFlags{loaded: true, corrupt: true}
		default:
			flags[name] = symbolFlags{missing: true}
		}
	}
	return flags
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

// unpadded formats a number that is not an address.
func unpadded(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
