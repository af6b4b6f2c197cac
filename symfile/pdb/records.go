package pdb

import "encoding/binary"

// Kinds of symbol records.
//
// Source: microsoft-pdb, include/cvinfo.h (SYM_ENUM_e). The forms _ST are those of Visual Studio
// 2002, whose names begin with their length.
const (
	symEnd         = 0x0006
	symThunkST     = 0x0206
	symGProcST     = 0x100b
	symLProcST     = 0x100a
	symPublicST    = 0x1009
	symThunk       = 0x1102
	symPublic      = 0x110e
	symLProc       = 0x110f
	symGProc       = 0x1110
	symTrampoline  = 0x112c
	symSepCode     = 0x1132
	symLProcID     = 0x1146
	symGProcID     = 0x1147
	symInlineSite  = 0x114d
	symInlineEnd   = 0x114e
	symProcIDEnd   = 0x114f
	symLProcDPC    = 0x1155
	symLProcDPCID  = 0x1156
	symInlineSite2 = 0x115d
)

// Kinds that open a scope without being a function: S_BLOCK32, S_WITH32, these two as _ST, managed
// code, thunks, parts of functions.
var scopes = map[uint16]bool{0x1103: true, 0x1104: true, 0x0207: true, 0x0208: true, 0x112a: true, 0x112b: true, symThunk: true, symThunkST: true, symSepCode: true}

// isProc: the record is a function's. Its layout: 4 parent, 8 end, 12 next, 16 length, 20 and 24
// where the prologue ends and the epilogue begins, 28 type, 32 offset, 36 section u16, 38 flags u8,
// 39 name. Offsets count from the record's length field.
func isProc(kind uint16) bool {
	switch kind {
	case symGProc, symLProc, symGProcID, symLProcID, symLProcDPC, symLProcDPCID, symGProcST, symLProcST:
		return true
	}
	return false
}

// procName is where a function's name begins in its record.
const procName = 39

// typeIsID: the function's type is a number in the stream of ids.
// Object files have these kinds. Linkers mostly replace them: LLVM's writes S_GPROC32 with the
// type's own number (lld, COFF/PDB.cpp, translateIdSymbols).
func typeIsID(kind uint16) bool {
	return kind == symGProcID || kind == symLProcID || kind == symLProcDPCID
}

// name is the name at an offset of a record, which ends with the record if it has no end of its
// own.
func name(kind uint16, rec []byte, off int) string {
	if off >= len(rec) {
		return ""
	}
	b := rec[off:]
	switch kind {
	case symGProcST, symLProcST, symThunkST, symPublicST:
		return string(b[1:min(len(b), 1+int(b[0]))])
	}
	return zeroEnded(b)
}

// zeroEnded returns a text up to its zero byte, or all of it if it has none.
func zeroEnded(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// u32 and u16 are numbers in a record; 0 where it is too short.
func u32(b []byte, off int) uint32 {
	if off < 0 || off+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[off:])
}

func u16(b []byte, off int) uint16 {
	if off < 0 || off+2 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint16(b[off:])
}
