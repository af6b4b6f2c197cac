package sframe

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// function is a function descriptor entry (2.3). Sizes in bytes:
//
//	version 1   start 4 | size 4 | rows' offset 4 | number of rows 4 | info 1
//	version 2   start 4 | size 4 | rows' offset 4 | number of rows 4 | info 1 | block 1 | unused 2
//	version 3   start 8 | size 4 | rows' offset 4     and before its rows: number of rows 2 | info 1 | kind 1 | block 1
type function struct {
	// at is the entry's offset in the section.
	at int64
	// start is the function's address relative to the section's start, size its size in bytes.
	start int64
	size  uint32
	// rows is the number of its frame row entries, rowsAt the section offset of the first.
	rows   uint32
	rowsAt int64
	// info is the info word:
	//
	//	bits 0–3  size of the rows' start addresses: 1 << n bytes, n up to 2
	//	bit 4     the rows describe a block that the function repeats (PCMASK)
	//	bit 5     arm64: return addresses are signed with key B
	//	bit 7     version 3: signal frame
	info uint8
	// kind is 0, or 1 for a flexible function (version 3).
	kind uint8
	// block is the size in bytes of a repeated block.
	block uint8
	// oldMask: the function repeats a block of unknown size (version 1).
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

// start returns the start of a function, relative to the section's start.
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

// startOf decodes the start field b at offset at. With StartFromField it is relative to the field,
// else to the section.
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

// function reads the entry at an index. attributes completes it.
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
		t.warn("padding", fn.at+18, "unused bytes 0x%02x 0x%02x are ignored", b[18], b[19])
	}
	return fn, nil
}

// attributes reads the attributes that version 3 has before the rows, and checks them.
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
			t.warn("info", infoAt+1, "unknown bits 0x%02x of the function's second info byte are ignored", b[3]&^0x1f)
		}
		if fn.kind > kindFlex {
			return t.formatError(infoAt+1, "a function of type 0 (default) or 1 (flexible)", fmt.Sprintf("type %d", fn.kind))
		}
		fn.rowsAt += 5
	}
	if fn.info&15 > 2 {
		return t.formatError(infoAt, "rows of type 0, 1 or 2", fmt.Sprintf("type %d", fn.info&15))
	}
	if !t.arch.PointerAuth {
		unused |= infoKeyB
	}
	if fn.info&unused != 0 {
		t.warn("info", infoAt, "unknown bits 0x%02x of the function's info are ignored", fn.info&unused)
	}
	return nil
}

// repeats reports whether the rows describe one block that the function repeats (2.3.2), such
// as one entry of a PLT.
func (fn *function) repeats() bool { return fn.info&infoMask != 0 }

// unusable returns the reason why the function's rows give no rules for any address, or "".
func (fn *function) unusable() string {
	switch {
	case fn.oldMask:
		return "the function repeats a block, and version 1 does not say of what size"
	case fn.repeats() && fn.block == 0:
		return "the function repeats a block of 0 bytes"
	}
	return ""
}

// key returns the key with which the function signs return addresses.
func (fn *function) key() unwind.SigningKey {
	if fn.info&infoKeyB != 0 {
		return unwind.KeyB
	}
	return unwind.KeyA
}
