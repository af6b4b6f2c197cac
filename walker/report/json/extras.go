package jsonreport

import "github.com/crashpane/crashpane/core/jsonwriter"

// handles writes the handles of a Windows process, null if the dump has no list of them.
func (p *printer) handles() {
	if !p.r.HasHandles {
		p.Null("handles")
		return
	}
	p.Objects("handles", len(p.r.Handles), func(i int) {
		h := &p.r.Handles[i]
		p.Uint("handle", h.Handle)
		p.StrOrNull("object_name", h.Name)
		p.StrOrNull("type_name", h.Type)
	})
}

// procLimits writes the limits in the order of /proc/PID/limits. rust-minidump's order changes from
// run to run.
func (p *printer) procLimits() {
	if !p.r.HasLimits {
		p.Null("proc_limits")
		return
	}
	value := func(k string, v *uint64) {
		if v == nil {
			p.Str(k, "unlimited")
		} else {
			p.Uint(k, *v)
		}
	}
	p.Object("proc_limits", func() {
		p.Objects("limits", len(p.r.Limits), func(i int) {
			l := &p.r.Limits[i]
			value("hard", l.Hard)
			p.Str("name", l.Name)
			value("soft", l.Soft)
			if l.Unit != "" {
				p.Str("unit", l.Unit)
			} else {
				p.Str("unit", "n/a")
			}
		})
	})
}

// macCrashInfo writes the records that Apple's libraries keep of a crash (__crash_info), null if
// the dump has no such stream.
func (p *printer) macCrashInfo() {
	if !p.r.HasMacCrashInfo {
		p.Null("mac_crash_info")
		return
	}
	number := func(k string, v uint64) {
		if v == 0 {
			p.Null(k)
		} else {
			p.hex(k, v)
		}
	}
	p.Object("mac_crash_info", func() {
		p.Int("num_records", int64(len(p.r.MacCrashInfo)))
		p.Objects("records", len(p.r.MacCrashInfo), func(i int) {
			m := &p.r.MacCrashInfo[i]
			number("abort_cause", m.AbortCause)
			p.StrOrNull("backtrace", m.Backtrace)
			number("dialog_mode", m.DialogMode)
			p.StrOrNull("message", m.Message)
			p.StrOrNull("message2", m.Message2)
			p.StrOrNull("module", m.Module)
			p.StrOrNull("signature_string", m.Signature)
			number("thread", m.Thread)
		})
	})
}

// macBootArgs writes the kernel's boot arguments, null if the dump does not have them.
func (p *printer) macBootArgs() {
	if p.r.MacBootArgs == nil {
		p.Null("mac_boot_args")
		return
	}
	p.Str("mac_boot_args", *p.r.MacBootArgs)
}

// softErrors writes the dump's JSON with its objects' keys in alphabetical order, or null if it is
// not JSON.
func (p *printer) softErrors() {
	v, ok := jsonwriter.Parse(p.r.SoftErrors)
	if !ok {
		p.Null("soft_errors")
		return
	}
	p.Key("soft_errors")
	p.Put(v)
}
