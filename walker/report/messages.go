package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Message is a message of the program about its own end.
type Message struct {
	// Source is where the dump has the message: "assertion", "comment", "annotation
	// exceptionReason", "crash info of libc.dylib".
	Source, Text string
	Private      bool // it may have the program's data; an assertion is source code
	// InMemory: the program's memory has it. See Said.
	InMemory bool
}

// Said returns the messages for an export: those that the program's memory has only if it is asked for
// private ones, too.
func (r *Report) Said(private bool) []Message {
	if private {
		return r.Messages
	}
	return slices.DeleteFunc(slices.Clone(r.Messages), func(m Message) bool { return m.InMemory })
}

// annotationRole is the meaning of an annotation.
type annotationRole uint8

const (
	saysReason  annotationRole = iota + 1 // why the program ended
	saysProduct                           // the product's name
	saysVersion
	saysChannel
	saysType  // the kind of process: "renderer", "gpu"
	saysScope // JSON with a release, "product@version", and an environment
)

// annotationKeys has the keys of annotations (Crashpad's, and Breakpad's custom ones) that a
// report's summary shows, in the order in which messages are listed. Keys with the same meaning are
// adjacent.
//
// Sources: Crashpad's client/ios_handler (exceptionName, exceptionReason); Chromium's
// chrome_crash_reporter and crash_keys (ptype, prod, ver, channel, LOG_FATAL, firstexception,
// lastexception, nsexception); V8's heap (v8-oom-location, v8-oom-stack); Electron's crash_reporter
// and node_bindings.cc (_productName, _version, prod is "Electron" then and ver Electron's own,
// process_type, electron.v8-…); Mozilla's CrashAnnotations.yaml (MozCrashReason, AbortMessage,
// ProductName, Version, ReleaseChannel, ProcessType); Sentry's Electron SDK (sentry___initialScope,
// JSON). Sentry's native SDK and Unreal keep what they know in files next to the dump
// (__sentry-event, CrashContext.runtime-xml); ErrorMessage, GameName and BuildVersion are Unreal's
// names there. The last line of reasons are names that speak for themselves.
var annotationKeys = []struct {
	key  string
	role annotationRole
}{
	{"exceptionReason", saysReason}, {"firstexception", saysReason}, {"lastexception", saysReason}, {"nsexception", saysReason},
	{"MozCrashReason", saysReason}, {"AbortMessage", saysReason}, {"LOG_FATAL", saysReason}, {"ErrorMessage", saysReason},
	{"electron.v8-fatal.message", saysReason}, {"electron.v8-fatal.location", saysReason}, {"electron.v8-oom.detail", saysReason},
	{"electron.v8-oom.location", saysReason}, {"v8-oom-location", saysReason},
	{"js-oom-stack", saysReason}, {"v8-oom-stack", saysReason}, {"electron.v8-oom.stack", saysReason},
	{"abort_message", saysReason}, {"assertion", saysReason}, {"panic", saysReason}, {"fatal_error", saysReason},

	{"_productName", saysProduct}, {"ProductName", saysProduct}, {"prod", saysProduct}, {"product", saysProduct}, {"GameName", saysProduct},
	{"_version", saysVersion}, {"Version", saysVersion}, {"ver", saysVersion}, {"version", saysVersion}, {"BuildVersion", saysVersion},
	{"sentry___initialScope", saysScope},
	{"ReleaseChannel", saysChannel}, {"channel", saysChannel},
	{"ptype", saysType}, {"process_type", saysType}, {"ProcessType", saysType},
}

// maxMessages is the most messages that a report has, maxMessageText the length in bytes to which
// each is cut.
const (
	maxMessages    = 8
	maxMessageText = 2000
)

// collectMessages sets Messages, the most important message first, and the process' product.
func (b *builder) collectMessages() {
	r, d := b.r, b.d
	r.Messages = []Message{}
	seen := map[string]bool{}
	say := func(source, text string) {
		text = strings.TrimSpace(text)
		if len(text) > maxMessageText {
			text = strings.ToValidUTF8(text[:maxMessageText], "") + "…"
		}
		if text != "" && !seen[text] && len(r.Messages) < maxMessages {
			seen[text] = true
			r.Messages = append(r.Messages, Message{Source: source, Text: text, Private: source != "assertion"})
		}
	}
	say("assertion", assertionMessage(d.Assertion))
	b.fromMemory(say)
	for i := range r.Messages {
		r.Messages[i].InMemory = r.Messages[i].Source != "assertion"
	}
	if d.Exception != nil && !isSignalAlone(d.Exception.Text) {
		say("LLDB", d.Exception.Text)
	}
	r.Upload = make([]Sent, len(d.Src.Notes))
	for i, n := range d.Src.Notes {
		r.Upload[i] = Sent(n)
	}
	if d.Crashpad != nil || len(d.Src.Notes) > 0 {
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

// isSignalAlone reports whether LLDB's text only names the signal, "signal SIGABRT": the reason says that,
// and it is not a message of the program.
func isSignalAlone(text string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "signal ")
	return ok && strings.HasPrefix(name, "SIG") && !strings.ContainsAny(name, " :(")
}

// assertionMessage returns an assertion as one line: expression, function, file and line.
func assertionMessage(a *core.Assertion) string {
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
	for _, n := range b.d.Src.Notes { // what was sent with the dump
		put(n.Key, n.Value)
	}
	c := b.d.Crashpad
	if c == nil {
		c = &core.CrashpadInfo{}
	}
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
		case saysScope:
			product, version, _ := strings.Cut(memberOf(v, "release"), "@")
			take(&p.Product, product)
			take(&p.Version, version)
			take(&p.Channel, memberOf(v, "environment"))
		}
	}
}

// memberOf returns a text of a JSON object by its key, as writers without blanks have it; "" if it
// is not there.
func memberOf(object, key string) string {
	_, after, _ := strings.Cut(object, `"`+key+`":"`)
	value, _, ended := strings.Cut(after, `"`)
	if !ended {
		return ""
	}
	return value
}
