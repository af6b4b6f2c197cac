// Package jsvalue copies bytes between Go and JavaScript, and waits for promises.
package jsvalue

import "syscall/js"

// ArrayOf returns a Uint8Array with a copy of b.
func ArrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// BytesOf copies the contents of a Uint8Array.
func BytesOf(array js.Value) []byte {
	b := make([]byte, array.Get("byteLength").Int())
	js.CopyBytesToGo(b, array)
	return b
}
