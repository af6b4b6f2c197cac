package elf

// Numbers of the format (System V ABI, "gABI", chapters 4 and 5, and its processor supplements):
// class ELFCLASS, data ELFDATA, mach EM_, seg PT_, sec SHT_, flag SHF_, index SHN_, dyn DT_, note
// NT_.
const (
	class32, class64 = 1, 2
	dataLSB, dataMSB = 1, 2

	// TypeRel to TypeCore are the values of File.Type (e_type).
	TypeRel, TypeExec, TypeDyn, TypeCore = 1, 2, 3, 4

	segLoad, segDynamic, segInterp, segNote = 1, 2, 3, 4

	secProgBits                                        = 1
	secSymtab, secStrtab, secRela, secHash, secDynamic = 2, 3, 4, 5, 6
	secNote, secNoBits, secRel, secDynsym              = 7, 8, 9, 11
	secSymtabShndx                                     = 18

	flagWrite, flagAlloc, flagExec, flagCompressed = 1, 2, 4, 0x800

	// Section numbers with a special meaning: SHN_UNDEF, SHN_LORESERVE, SHN_COMMON, SHN_XINDEX,
	// widened from the file's 16 bits.
	indexUndef, indexReserve, indexCommon, indexMore = 0, 0xffffff00, 0xfffffff2, 0xffffffff

	countMore = 0xffff // e_phnum and e_shstrndx: the value is in section header 0

	dynNeeded, dynHash, dynStrtab, dynSymtab, dynRela, dynRelaSize = 1, 4, 5, 6, 7, 8
	dynStrSize, dynSymSize, dynSoName, dynRel, dynRelSize          = 10, 11, 14, 17, 18
	dynPLTGOT, dynPLTRelSize, dynPLTRel, dynJmpRel                 = 3, 2, 20, 23
	dynGNUHash                                                     = 0x6ffffef5
	dynRelaCount, dynRelCount                                      = 0x6ffffff9, 0x6ffffffa
	dynPPC64Glink                                                  = 0x70000000

	noteBuildID = 3
)

// Types of symbols (Sym.Type), from the low four bits of st_info.
const (
	SymNoType, SymObject, SymFunc, SymSection, SymFile, SymCommon, SymTLS, SymIFunc = 0, 1, 2, 3, 4, 5, 6, 10
)

// Bindings of symbols (Sym.Bind), from the high four bits of st_info.
const (
	BindLocal, BindGlobal, BindWeak, BindUnique = 0, 1, 2, 10
)

const (
	// maxSections and maxSegments limit the tables of a file with wrong counts. They are far above
	// what linkers write.
	maxSections, maxSegments = 1 << 20, 1 << 16
	// maxSectionName and maxName limit strings, which in a crafted file may have no end.
	maxSectionName, maxName = 256, 1 << 16
	// maxNotes is how many bytes of a note section or segment are searched.
	maxNotes = 1 << 20
	// pageSize is the smallest page that a loader maps; module bases are multiples of it.
	pageSize = 4096
)
