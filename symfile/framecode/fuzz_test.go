package framecode_test

import (
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/framecode"
)

// FuzzBody: whatever the code of a function is, on each processor, reading it ends and does not
// panic.
func FuzzBody(f *testing.F) {
	var known []*cpu.Arch
	for _, a := range cpu.All() {
		if framecode.Knows(a) {
			known = append(known, a)
		}
	}
	for i := range known {
		f.Add(i, []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xc9, 0xc3, 0x90, 0x90}, uint64(0x1000), 8, false)
	}
	f.Fuzz(func(t *testing.T, arch int, code []byte, start uint64, at int, flag bool) {
		if arch < 0 || arch >= len(known) || at < 0 || at > len(code) {
			return
		}
		callee := func(at uint64) (framecode.Function, bool) {
			return framecode.Function{Code: code, Start: at, Sized: flag}, true
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			framecode.Body(known[arch], order, &framecode.Function{Code: code, Start: start, Sized: true, Thumb: flag, Callee: callee}, start+uint64(at), flag, steps())
			framecode.Epilogue(known[arch], order, code, start, flag)
			framecode.Stub(known[arch], func(at uint64, p []byte) int { return copy(p, code[min(at-start, uint64(len(code))):]) }, start)
		}
	})
}
