package jsvalue

import "syscall/js"

// Await waits for a promise. It returns its value or, if it was rejected, the reason, which is
// truthy.
func Await(promise js.Value) (value, reason js.Value) {
	return Called(func(yes, no js.Func) { promise.Call("then", yes, no) })
}

// Called waits until one of two callbacks is called with a value. start passes them to a function
// of the browser: yes for the result, no for the reason of a failure.
func Called(start func(yes, no js.Func)) (value, reason js.Value) {
	done := make(chan struct{})
	yes := js.FuncOf(func(_ js.Value, args []js.Value) any {
		value = args[0]
		close(done)
		return nil
	})
	no := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if reason = args[0]; !reason.Truthy() {
			reason = js.ValueOf("no reason was given")
		}
		close(done)
		return nil
	})
	defer yes.Release()
	defer no.Release()
	start(yes, no)
	<-done
	return value, reason
}

// Problem is the text of a reason, mostly an Error. Some of the browser's exceptions have only a name.
func Problem(reason js.Value) string {
	for _, key := range []string{"message", "name"} {
		if reason.Type() != js.TypeObject {
			break
		}
		if text := reason.Get(key); text.Type() == js.TypeString && text.String() != "" {
			return text.String()
		}
	}
	return reason.String()
}
