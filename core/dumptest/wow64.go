package dumptest

import "encoding/binary"

// What a 32-bit process on 64-bit Windows has in its memory, for tests of dumps by 64-bit tools.
// Sources: winternl.h, winnt.h, and the WRK's wow64tls.h.

// ThreadTEB is the address of the TEB that the thread records of this package name.
func ThreadTEB(id uint32) uint64 { return 0x7ffd0000 + uint64(id)*0x1000 }

// TEB64 returns the memory of a 64-bit thread environment block. teb32 is the address of the 32-bit
// one, saved that of the thread's saved registers (see Reserved); both may be 0.
//
//	exception list 8, of WOW64: the 32-bit TEB | … | 48 self 8 | … | 5248 TLS slots 64 × 8
func TEB64(self, teb32, saved uint64) []byte {
	p := make([]byte, 0x1680)
	binary.LittleEndian.PutUint64(p, teb32)
	binary.LittleEndian.PutUint64(p[0x30:], self)
	binary.LittleEndian.PutUint64(p[0x1480+8:], saved)
	return p
}

// KeepStack puts the bounds of the 64-bit stack, and the stack pointer that older systems keep while
// 32-bit code runs, into a 64-bit thread environment block.
//
//	… | 8 stack base 8, stack limit 8 | … | 5248 TLS slot 0: stack pointer 8
func KeepStack(teb64 []byte, limit, base, sp uint64) []byte {
	binary.LittleEndian.PutUint64(teb64[8:], base)
	binary.LittleEndian.PutUint64(teb64[16:], limit)
	binary.LittleEndian.PutUint64(teb64[0x1480:], sp)
	return teb64
}

// Enter makes a 32-bit thread environment block name the code by which 32-bit code enters the
// 64-bit layer.
//
//	… | 192 that code's address 4
func Enter(teb32 []byte, gate uint32) []byte {
	p := append(teb32, make([]byte, 0xc4-len(teb32))...)
	binary.LittleEndian.PutUint32(p[0xc0:], gate)
	return p
}

// FarJump returns the 32-bit instruction that jumps to an address in code of a segment.
func FarJump(to uint32, segment uint16) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32([]byte{0xea}, to), segment)
}

// TEB32 returns the memory of a 32-bit thread environment block.
//
//	… | 24 self 4 | … | 52 last error 4
func TEB32(self, lastError uint32) []byte {
	p := make([]byte, 0x38)
	binary.LittleEndian.PutUint32(p[0x18:], self)
	binary.LittleEndian.PutUint32(p[0x34:], lastError)
	return p
}

// Reserved returns WOW64_CPURESERVED with a context record: flags 2 | machine 2 | the record, at a
// multiple of align.
func Reserved(machine uint16, align int, context []byte) []byte {
	p := make([]byte, max(4, align))
	binary.LittleEndian.PutUint16(p[2:], machine)
	return append(p, context...)
}

// Nest makes the exception that was added last point to another record in memory.
func (d *Dump) Nest(record uint64) *Dump {
	last := d.dir[len(d.dir)-1]
	copy(d.buf[last.off+16:], d.order.AppendUint64(nil, record))
	return d
}

// ExceptionRecord returns an EXCEPTION_RECORD as it is in a process' memory.
//
//	code 4 | flags 4 | next record, a pointer | address, a pointer | number of parameters 4, and
//	  4 of padding on 64 bits | 15 parameters, pointers
func ExceptionRecord(word int, code, flags uint32, next, address uint64, params ...uint64) []byte {
	r := &w{AppendByteOrder: LittleEndian}
	pointer := func(v uint64) {
		if word == 8 {
			r.u64(v)
		} else {
			r.u32(uint32(v))
		}
	}
	r.u32(code).u32(flags)
	pointer(next)
	pointer(address)
	pointer(uint64(len(params)))
	for i := range 15 {
		if i < len(params) {
			pointer(params[i])
		} else {
			pointer(0)
		}
	}
	return r.b
}
