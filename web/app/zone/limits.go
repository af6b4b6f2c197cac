package zone

// Limits are what a host page forbids.
type Limits struct {
	NoFiles   bool // the user may not add files
	NoNetwork bool // the user may not request symbols from servers
	ReadOnly  bool // the user may not add files, request symbols or change how the dump is read
	Redact    bool // private data is neither shown nor exported: see protocol.Call
}

// AddsFiles, AsksServers, GetsSymbols, Changes, ShowsPrivate and WritesSymbols are kinds of actions: each
// reports whether limits forbid it.
func AddsFiles(l Limits) bool     { return l.NoFiles || l.ReadOnly }
func AsksServers(l Limits) bool   { return l.ReadOnly || l.NoNetwork }
func GetsSymbols(l Limits) bool   { return l.ReadOnly || l.NoFiles && l.NoNetwork }
func Changes(l Limits) bool       { return l.ReadOnly }
func ShowsPrivate(l Limits) bool  { return l.Redact }
func WritesSymbols(l Limits) bool { return l.ReadOnly || l.Redact } // a symbol file has paths of source files, with names of users

// Allows reports whether limits allow what a function reports to be forbidden; nil is always allowed.
func (l Limits) Allows(forbidden func(Limits) bool) bool { return forbidden == nil || !forbidden(l) }

// Action is what elements of a zone do. They name it in data-act, with an argument in data-arg.
type Action struct {
	ID    string
	Limit func(Limits) bool // reports whether the host page forbids it; nil: it is always allowed
	Do    func(arg string)
	DoN   func(n int) // in place of Do, if the argument is a number
}
