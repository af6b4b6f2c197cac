package report

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Said is a message of the program about its own end.
type Said struct {
	// Source is where the dump has the message: "assertion", "comment", "annotation exceptionReason", "crash info of libc.dylib".
	Source, Text string
}

// annotationRole is the meaning of an annotation.
type annotationRole uint8

const (
	saysReason  annotationRole = iota + 1 // why the program ended
	saysProduct                           // the product's name
	saysVersion
	saysChannel
	saysType // the kind of process: "renderer", "gpu"
)

// annotationKeys has the keys of annotations (Crashpad's, and Breakpad's custom ones) that a report's summary shows, in the order in
// which messages are listed. Keys with the same meaning are adjacent.
//
// Sources: Crashpad's client/ios_handler (exceptionName, exceptionReason), Chromium's components/crash (ptype, prod, ver, channel, LOG_FATAL,
// firstexception), V8's and Electron's out-of-memory keys, Mozilla's CrashAnnotations.yaml (MozCrashReason, AbortMessage), Sentry's and
// Unreal's crash reporters.
var annotationKeys = []struct {
	key  string
	role annotationRole
}{
	{"exceptionReason", saysReason}, {"nsexception-reason", saysReason}, {"firstexception", saysReason}, {"lastexception", saysReason}, {"nsexception", saysReason},
	{"MozCrashReason", saysReason}, {"AbortMessage", saysReason}, {"abort_message", saysReason}, {"abort-message", saysReason}, {"abort_msg", saysReason},
	{"LOG_FATAL", saysReason}, {"log-fatal", saysReason}, {"fatal_error", saysReason}, {"assertion", saysReason}, {"assert", saysReason},
	{"panic", saysReason}, {"panic_message", saysReason}, {"rust_panic", saysReason},
	{"ErrorMessage", saysReason}, {"UE_ErrorMessage", saysReason}, {"crash_reason", saysReason}, {"exception_message", saysReason},
	{"electron.v8-fatal.message", saysReason}, {"v8-fatal-message", saysReason}, {"electron.v8-oom.location", saysReason}, {"v8-oom-location", saysReason},
	{"js-oom-stack", saysReason}, {"v8-oom-stack", saysReason}, {"electron.v8-oom.stack", saysReason},

	{"_productName", saysProduct}, {"ProductName", saysProduct}, {"prod", saysProduct}, {"product", saysProduct}, {"GameName", saysProduct},
	{"_version", saysVersion}, {"Version", saysVersion}, {"ver", saysVersion}, {"version", saysVersion}, {"sentry-release", saysVersion}, {"release", saysVersion}, {"BuildVersion", saysVersion},
	{"ReleaseChannel", saysChannel}, {"channel", saysChannel}, {"environment", saysChannel},
	{"ptype", saysType}, {"process_type", saysType}, {"ProcessType", saysType}, {"processType", saysType},
}

// maxSaid is the most messages that a report has, maxSaidText the length in bytes to which each is cut.
const (
	maxSaid     = 8
	maxSaidText = 2000
)

// collectMessages sets Said, the most important message first, and the process' product.
func (b *builder) collectMessages() {
	r, d := b.r, b.d
	r.Said = []Said{}
	seen := map[string]bool{}
	say := func(source, text string) {
		text = strings.TrimSpace(text)
		if len(text) > maxSaidText {
			text = strings.ToValidUTF8(text[:maxSaidText], "") + "…"
		}
		if text != "" && !seen[text] && len(r.Said) < maxSaid {
			seen[text] = true
			r.Said = append(r.Said, Said{source, text})
		}
	}
	say("assertion", saidAssertion(d.Assertion))
	if d.Crashpad != nil {
		b.annotations(say)
	}
	for i := range d.MacCrashInfo {
		m := &d.MacCrashInfo[i]
		where := "crash info of " + BaseName(m.Module)
		say(where, m.Message)
		say(where, m.SecondMessage)
		say(where, m.Signature)
	}
	for _, c := range []*string{d.Windows.CommentA, d.Windows.CommentW} {
		if c != nil {
			say("comment", *c)
		}
	}
}

// saidAssertion returns an assertion as one line: expression, function, file and line.
func saidAssertion(a *core.Assertion) string {
	if a == nil {
		return ""
	}
	s := a.Expression
	if a.Type == 2 {
		s = strings.TrimSpace("pure virtual function call " + s)
	}
	if a.Function != "" {
		s += " in " + a.Function
	}
	if a.File != "" {
		s += ", " + a.File
		if a.Line != 0 {
			s += fmt.Sprintf(":%d", a.Line)
		}
	}
	return strings.TrimSpace(s)
}

// annotations reads the known keys. An annotation of the process wins over one of a module.
func (b *builder) annotations(say func(source, text string)) {
	values := map[string]string{}
	put := func(key, value string) {
		if value != "" && values[key] == "" {
			values[key] = value
		}
	}
	c := b.d.Crashpad
	for _, kv := range c.Annotations {
		put(kv.Key, kv.Value)
	}
	for i := range c.Modules {
		for _, kv := range c.Modules[i].Simple {
			put(kv.Key, kv.Value)
		}
		for j := range c.Modules[i].Objects {
			a := &c.Modules[i].Objects[j]
			if text, ok := a.Text(); ok {
				put(a.Name, text)
			}
		}
	}
	p := &b.r.Process
	take := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	name := values["exceptionName"]
	for _, k := range annotationKeys {
		v := values[k.key]
		if v == "" {
			continue
		}
		switch k.role {
		case saysReason:
			if k.key == "exceptionReason" && name != "" {
				v = name + ": " + v
			}
			say("annotation "+k.key, v)
		case saysProduct:
			take(&p.Product, v)
		case saysVersion:
			take(&p.Version, v)
		case saysChannel:
			take(&p.Channel, v)
		case saysType:
			take(&p.Type, v)
		}
	}
}
