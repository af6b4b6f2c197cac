package walker

// The instructions that call, of every CPU. Each function sees the bytes or words right before a return address, in the order of
// their addresses, and says whether they end with a call.

// endsInX86Call says whether some call instruction ends with the last byte. Instructions have no fixed size, so every
// length that a call can have is tried (Intel SDM volume 2A, CALL):
//
//	E8 rel32          5 bytes
//	FF /2 ModRM …     2 to 7 bytes, and a REX or segment prefix before it
func endsInX86Call(b []byte) bool {
	n := len(b)
	if n >= 5 && b[n-5] == 0xe8 {
		return true
	}
	for size := 2; size <= 7 && size <= n; size++ {
		if b[n-size] == 0xff && modRMSize(b[n-size+1:]) == size-1 {
			return true
		}
	}
	return false
}

// modRMSize is the length of the ModRM byte with SIB and displacement, if its middle field is 2 (CALL); else 0.
func modRMSize(b []byte) int {
	mod, reg, rm := b[0]>>6, b[0]>>3&7, b[0]&7
	if reg != 2 {
		return 0
	}
	size := 1
	if mod == 3 {
		return size
	}
	base := rm
	if rm == 4 {
		if len(b) < 2 {
			return 0
		}
		base = b[1] & 7
		size++
	}
	switch {
	case mod == 1:
		size++
	case mod == 2, mod == 0 && base == 5:
		size += 4
	}
	return size
}

// isARM64Call: BL imm26, BLR, and BLR with pointer authentication (Arm ARM, C4.1.66 "Branches").
func isARM64Call(w uint32) bool {
	return w>>26 == 0b100101 || w&0xfffffc1f == 0xd63f0000 || w&0xfefff800 == 0xd63f0800
}

// isARMCall: BL and BLX with an immediate, BLX with a register, and, from before ARMv5, any branch behind MOV lr, pc
// (Arm ARM, A8.8.25, A8.8.26).
func isARMCall(before, w uint32) bool {
	switch {
	case w>>28 == 0xf:
		return w>>25 == 0x7d
	case w>>24&0xf == 0xb, w&0x0ffffff0 == 0x012fff30:
		return true
	}
	return before&0x0fffffff == 0x01a0e00f
}

// isThumbCall: BL and BLX with an immediate are two halves, BLX and BLXNS with a register are the second alone
// (Arm ARM, A6.7.18, A6.7.19).
func isThumbCall(first, second uint16) bool {
	return first&0xf800 == 0xf000 && second&0xc000 == 0xc000 || second&0xff83 == 0x4780
}

// armTarget is where BL and BLX with an immediate go whose next instruction lies at an address (Arm ARM, A8.8.25).
func armTarget(next uint64, w uint32) (uint64, bool) {
	far := int64(int32(w<<8)>>6) + int64(next) + 4 // pc is two instructions ahead
	switch {
	case w>>25 == 0x7d:
		return uint64(far + int64(w>>23&2)), true
	case w>>28 != 0xf && w>>24&0xf == 0xb:
		return uint64(far), true
	}
	return 0, false
}

// thumbTarget is armTarget of Thumb's two halves, encodings T1 and T2.
func thumbTarget(next uint64, first, second uint16) (uint64, bool) {
	if first&0xf800 != 0xf000 || second&0xc000 != 0xc000 {
		return 0, false
	}
	sign := int64(first>>10) & 1
	i1, i2 := ^(int64(second>>13)^sign)&1, ^(int64(second>>11)^sign)&1
	far := -sign<<24 | i1<<23 | i2<<22 | int64(first&0x3ff)<<12 | int64(second&0x7ff)<<1
	at := int64(next)
	if second&0x1000 == 0 { // BLX: to ARM code, from an aligned pc
		at &^= 3
	}
	return uint64(at + far), true
}

// isMIPSCall: JAL, JALX, JALR and the branches that link (BLTZAL, BGEZAL and their likely forms), which lie before their delay
// slot (MIPS32 Architecture, volume II).
func isMIPSCall(w uint32) bool {
	switch w >> 26 {
	case 3, 0x1d:
		return true
	case 0:
		return w&0x3f == 9 && w>>11&31 != 0
	case 1:
		return w>>18&7 == 4
	}
	return false
}

// isMIPSCompactCall: BALC and JIALC of release 6, which have no delay slot.
func isMIPSCompactCall(w uint32) bool { return w>>26 == 0x3a || w>>21 == 0x3e<<5 }

// isPPCCall: a branch whose LK bit is set, with an immediate (18, 16) or to LR, CTR or TAR (19) (Power ISA, book I, 2.4).
func isPPCCall(w uint32) bool {
	if w&1 == 0 {
		return false
	}
	switch w >> 26 {
	case 16, 18:
		return true
	case 19:
		xo := w >> 1 & 0x3ff
		return xo == 16 || xo == 528 || xo == 560
	}
	return false
}

// isSPARCCall: CALL, and JMPL that keeps its address in o7; both lie before their delay slot (SPARC V9, A.8, A.24).
func isSPARCCall(w uint32) bool {
	return w>>30 == 1 || w>>30 == 2 && w>>19&0x3f == 0x38 && w>>25&31 == 15
}

// isRISCVCall: JAL and JALR that keep their address in ra, and the short C.JALR and, with 32-bit words, C.JAL (RISC-V unprivileged
// ISA, 2.5 and 27.5).
func isRISCVCall(w uint32, wordSize int) bool {
	half := w >> 16
	switch {
	case w&0xfff == 0xef, w&0x7fff == 0xe7:
		return true
	case half&0xf07f == 0x9002:
		return half&0xf80 != 0
	}
	return wordSize == 4 && half&0xe003 == 0x2001
}

// isZCall: BRASL of six bytes, BRAS, BAS and BAL of four, BASR, BALR and BASSM of two (z/Architecture Principles of Operation,
// chapter 7).
func isZCall(b []byte) bool {
	n := len(b)
	switch b[n-2] {
	case 0x0d, 0x05, 0x0c:
		return true
	}
	switch b[n-4] {
	case 0x4d, 0x45:
		return true
	case 0xa7:
		return b[n-3]&0xf == 5
	}
	return b[n-6] == 0xc0 && b[n-5]&0xf == 5
}
