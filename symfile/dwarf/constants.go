package dwarf

// Numbers of DWARF 5, section 7, and of GNU's extensions: tag for DW_TAG_, at for DW_AT_, form for
// DW_FORM_, ut for DW_UT_.
const (
	tagClassType         = 0x02
	tagEnumerationType   = 0x04
	tagStructureType     = 0x13
	tagUnionType         = 0x17
	tagInlinedSubroutine = 0x1d
	tagModule            = 0x1e
	tagSubprogram        = 0x2e
	tagInterfaceType     = 0x38
	tagNamespace         = 0x39
	tagPartialUnit       = 0x3c
)

const (
	atSibling        = 0x01
	atName           = 0x03
	atStmtList       = 0x10
	atLowPC          = 0x11
	atHighPC         = 0x12
	atLanguage       = 0x13
	atCompDir        = 0x1b
	atProducer       = 0x25
	atAbstractOrigin = 0x31
	atExternal       = 0x3f
	atSpecification  = 0x47
	atRanges         = 0x55
	atCallFile       = 0x58
	atCallLine       = 0x59
	atSignature      = 0x69
	atLinkageName    = 0x6e
	atStrOffsetsBase = 0x72
	atAddrBase       = 0x73
	atRnglistsBase   = 0x74
	atDwoName        = 0x76
	atMIPSLinkage    = 0x2007
	atGNUDwoName     = 0x2130
	atGNUDwoID       = 0x2131
	atGNURangesBase  = 0x2132
	atGNUAddrBase    = 0x2133
)

const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// language says how the functions of a language are named.
type language struct {
	// separator is what programs write between class and function, if DW_AT_name lacks the namespace
	// and class: a C++ function ns::f has the name "f", a Pascal method TFoo.Get the name "Get".
	separator string
	// mangles: functions have linkage names that debug information or symbol tables have.
	mangles bool
}

// languages are those (DW_LANG_…) whose functions may have another name than DW_AT_name.
var languages = map[uint64]language{
	0x00: {"", true},   // none, as in a skeleton unit
	0x04: {"::", true}, // C_plus_plus
	0x09: {".", false}, // Pascal83
	0x0b: {"::", true}, // Java
	0x11: {"::", true}, // ObjC_plus_plus
	0x13: {"::", true}, // D
	0x1a: {"::", true}, // C_plus_plus_11
	0x1c: {"", true},   // Rust
	0x1e: {"::", true}, // Swift
	0x21: {"::", true}, // C_plus_plus_14
	0x2b: {"::", true}, // C_plus_plus_17
	0x2c: {"::", true}, // C_plus_plus_20
	0x3a: {"::", true}, // C_plus_plus_23
}

// Unit types (DWARF 5, section 7.5.1).
const (
	utCompile      = 1
	utType         = 2
	utPartial      = 3
	utSkeleton     = 4
	utSplitCompile = 5
	utSplitType    = 6
)
