package sframe

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// function is a function descriptor entry (2.3).
type function struct {
	// at is the entry's offset in the section.
	at int64
	// start is the function's address, counted from the section's start; size is in bytes.
	start int64
	size  uint32
	// rows is how many frame row entries it has, rowsAt the offset of the first in the section.
	rows   uint32
	rowsAt int64
	// info is the info word:
	//
	//	bits 0–3  size of the rows' start addresses: 1 << n bytes, n up to 2
	//	bit 4     the rows are those of a block that the function repeats (PCMASK)
	//	bit 5     arm64: return addresses are signed with key B
	//	bit 7     version 3: signal frame
	info uint8
	// kind is 0, or 1 for a flexible function (version 3).
	kind uint8
	// block is the size in bytes of a repeated block.
	block uint8
	// oldMask: the function repeats a block of a size that is not told (version 1).
	oldMask bool
}

const (
	infoMask   = 1 << 4
	infoKeyB   = 1 << 5
	infoSignal = 1 << 7
)

const (
	kindDefault = 0
	kindFlex    = 1
)

// start is where a function starts, counted from the section's start.
func (t *table) start(index uint32) (int64, error) {
	at := t.FunctionsAt + int64(index)*t.functionSize()
	size := 4
	if t.Version == 3 {
		size = 8
	}
	b, err := t.bytes(at, size, t.src.Size)
	if err != nil {
		return 0, err
	}
	return t.startOf(at, b), nil
}

func (t *table) startOf(at int64, b []byte) int64 {
	v := int64(0)
	if t.Version == 3 {
		v = int64(t.Order.Uint64(b))
	} else {
		v = int64(int32(t.Order.Uint32(b)))
	}
	if t.Flags&StartFromField != 0 {
		v += at
	}
	return v
}

// function reads the entry at an index, without what version 3 keeps beside the rows.
func (t *table) function(index uint32) (function, error) {
	fn := function{at: t.FunctionsAt + int64(index)*t.functionSize()}
	b, err := t.bytes(fn.at, int(t.functionSize()), t.src.Size)
	if err != nil {
		return fn, err
	}
	fn.start = t.startOf(fn.at, b)
	if t.Version == 3 {
		fn.size = t.Order.Uint32(b[8:])
		fn.rowsAt = t.RowsAt + int64(t.Order.Uint32(b[12:]))
		return fn, nil
	}
	fn.size = t.Order.Uint32(b[4:])
	fn.rowsAt = t.RowsAt + int64(t.Order.Uint32(b[8:]))
	fn.rows = t.Order.Uint32(b[12:])
	fn.info = b[16]
	if t.Version == 1 {
		fn.oldMask = fn.info&infoMask != 0
		return fn, nil
	}
	fn.block = b[17]
	if b[18]|b[19] != 0 {
		t.warn("padding", fn.at+18, "unused bytes 0x%02x 0x%02x are not heeded", b[18], b[19])
	}
	return fn, nil
}

// attributes completes an entry and checks it.
func (t *table) attributes(fn *function) error {
	infoAt := fn.at + 16
	unused := uint8(infoSignal | 1<<6)
	if t.Version == 3 {
		b, err := t.bytes(fn.rowsAt, 5, t.rowsEnd)
		if err != nil {
			return err
		}
		fn.rows = uint32(t.Order.Uint16(b))
		fn.info, fn.kind, fn.block = b[2], b[3]&0x1f, b[4]
		infoAt, unused = fn.rowsAt+2, 1<<6
		if b[3]&^0x1f != 0 {
			t.warn("info", infoAt+1, "unknown bits 0x%02x of the function's second info byte are not heeded", b[3]&^0x1f)
		}
		if fn.kind > kindFlex {
			return t.wrong(infoAt+1, "a function of type 0 (default) or 1 (flexible)", fmt.Sprintf("type %d", fn.kind))
		}
		fn.rowsAt += 5
	}
	if fn.info&15 > 2 {
		return t.wrong(infoAt, "rows of type 0, 1 or 2", fmt.Sprintf("type %d", fn.info&15))
	}
	if !t.arch.PointerAuth {
		unused |= infoKeyB
	}
	if fn.info&unused != 0 {
		t.warn("info", infoAt, "unknown bits 0x%02x of the function's info are not heeded", fn.info&unused)
	}
	return nil
}

// repeats: the rows describe one block, and the function is made of such blocks (2.3.2).
func (fn *function) repeats() bool { return fn.info&infoMask != 0 }

// unusable says why the function's rows cannot be taken for any address; "" if they can.
func (fn *function) unusable() string {
	switch {
	case fn.oldMask:
		return "the function repeats a block, and version 1 does not say of what size"
	case fn.repeats() && fn.block == 0:
		return "the function repeats a block of 0 bytes"
	}
	return ""
}

// key is the key that the function signs return addresses with.
func (fn *function) key() unwind.SigningKey {
	if fn.info&infoKeyB != 0 {
		return unwind.KeyB
	}
	return unwind.KeyA
}
