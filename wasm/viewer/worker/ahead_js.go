package worker

import "syscall/js"

// readAhead reads the beginnings of the files of the waiting messages, all at once, if there are
// several and the next one is such a message: a read takes a round trip to another process of the
// browser, for which the engine would wait with each file. A message gets its file's beginning as
// head. What cannot be read is read again, and then the engine says why not.
func (l *loop) readAhead() {
	waits := func(m js.Value) bool { return m.Get("file").Truthy() && !m.Get("head").Truthy() }
	if len(l.messages) < 2 || !waits(l.messages[0]) {
		return
	}
	begun := js.Global().Get("Array").New()
	var of []js.Value
	for _, m := range l.messages {
		if !waits(m) {
			break
		}
		file := m.Get("file")
		if file.Get("size").Float() > keptBlock {
			file = file.Call("slice", 0, keptBlock)
		}
		begun.SetIndex(len(of), file.Call("arrayBuffer"))
		of = append(of, m)
	}
	settled, _ := await(js.Global().Get("Promise").Call("allSettled", begun))
	for i, m := range of {
		if bytes := settled.Index(i).Get("value"); bytes.Truthy() {
			head := js.Global().Get("Uint8Array").New(bytes)
			noteRead(int64(head.Get("byteLength").Int()), m.Get("file"))
			m.Set("head", head)
		}
	}
}
