package msvc

// operatorNames has the functions without an identifier, by the code after "?": operators, and
// functions that compilers generate. The method operator handles constructors (0), destructors (1),
// conversions (B) and literal operators (__K).
var operatorNames = map[string]string{
	"2": "operator new", "3": "operator delete", "4": "operator=", "5": "operator>>", "6": "operator<<", "7": "operator!",
	"8": "operator==", "9": "operator!=", "A": "operator[]", "C": "operator->", "D": "operator*", "E": "operator++",
	"F": "operator--", "G": "operator-", "H": "operator+", "I": "operator&", "J": "operator->*", "K": "operator/",
	"L": "operator%", "M": "operator<", "N": "operator<=", "O": "operator>", "P": "operator>=", "Q": "operator,",
	"R": "operator()", "S": "operator~", "T": "operator^", "U": "operator|", "V": "operator&&", "W": "operator||",
	"X": "operator*=", "Y": "operator+=", "Z": "operator-=",
	"_0": "operator/=", "_1": "operator%=", "_2": "operator>>=", "_3": "operator<<=", "_4": "operator&=", "_5": "operator|=",
	"_6": "operator^=", "_A": "`typeof'", "_D": "`vbase dtor'", "_E": "`vector deleting dtor'", "_F": "`default ctor closure'",
	"_G": "`scalar deleting dtor'", "_H": "`vector ctor iterator'", "_I": "`vector dtor iterator'",
	"_J": "`vector vbase ctor iterator'", "_K": "`virtual displacement map'", "_L": "`eh vector ctor iterator'",
	"_M": "`eh vector dtor iterator'", "_N": "`eh vector vbase ctor iterator'", "_O": "`copy ctor closure'",
	"_T": "`local vftable ctor closure'", "_U": "operator new[]", "_V": "operator delete[]",
	"__A": "`managed vector ctor iterator'", "__B": "`managed vector dtor iterator'", "__C": "`EH vector copy ctor iterator'",
	"__D": "`EH vector vbase copy ctor iterator'", "__G": "`vector copy ctor iterator'",
	"__H": "`vector vbase copy constructor iterator'", "__I": "`managed vector vbase copy constructor iterator'",
	"__L": "operator co_await", "__M": "operator<=>",
}

// primitiveTypes has the types of one letter, or of "_" and a letter. Only old compilers write the
// sized integers (__int8 to __int32): today's write the types of that size.
var primitiveTypes = map[string]string{
	"X": "void", "D": "char", "C": "signed char", "E": "unsigned char", "F": "short", "G": "unsigned short", "H": "int",
	"I": "unsigned int", "J": "long", "K": "unsigned long", "M": "float", "N": "double", "O": "long double",
	"_N": "bool", "_J": "__int64", "_K": "unsigned __int64", "_W": "wchar_t", "_Q": "char8_t", "_S": "char16_t",
	"_U": "char32_t", "_P": "auto", "_T": "decltype(auto)",
	"_D": "__int8", "_E": "unsigned __int8", "_F": "__int16", "_G": "unsigned __int16", "_H": "__int32", "_I": "unsigned __int32", "_L": "__int128",
	"_M": "unsigned __int128",
}

// conventions has the calling conventions by letter. An unknown letter is not an error: it shows as
// nothing.
var conventions = [128]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall", 'G': "__stdcall",
	'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall", 'O': "__eabi", 'P': "__eabi",
	'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__)) ", 'W': "__attribute__((__swiftasynccall__)) ", 'w': "__regcall",
	'U': "__attribute__((__preserve_most__)) ", 'V': "__attribute__((__preserve_none__)) ",
}

// class is the access and kind of a function or variable, and the kind of a thunk.
type class uint16

const (
	private class = 1 << iota
	protected
	public
	global
	static
	virtual
	externC
	noParameters // the name has no parameters, as that of an extern "C" function
	adjustor     // a thunk that adds a number in its name to this
	vtordisp     // a thunk that adds a number in the object to this
	vtordispex   // the same through a virtual base
)

// functionClasses has the classes by the letter after a function's name. Each has a second letter
// for far functions of 16-bit systems.
var functionClasses = [128]class{
	'9': externC | noParameters,
	'A': private, 'C': private | static, 'E': private | virtual, 'G': private | virtual | adjustor,
	'I': protected, 'K': protected | static, 'M': protected | virtual, 'O': protected | virtual | adjustor,
	'Q': public, 'S': public | static, 'U': public | virtual, 'W': public | virtual | adjustor,
	'Y': global,
	'B': private, 'D': private | static, 'F': private | virtual, 'H': private | virtual | adjustor,
	'J': protected, 'L': protected | static, 'N': protected | virtual, 'P': protected | virtual | adjustor,
	'R': public, 'T': public | static, 'V': public | virtual, 'X': public | virtual | adjustor,
	'Z': global,
}

// thunkClasses has the classes of vtordisp thunks by the digit after "$" or "$R".
var thunkClasses = [128]class{
	'0': private | virtual, '1': private | virtual, '2': protected | virtual, '3': protected | virtual,
	'4': public | virtual, '5': public | virtual,
}

// variableClasses has the classes of variables by digit.
var variableClasses = [128]class{'0': private | static, '1': protected | static, '2': public | static, '3': global, '4': global}

// tags has the kinds of named types by letter.
var tags = [128]string{'T': "union ", 'U': "struct ", 'V': "class ", 'W': "enum "}

// quals are the qualifiers of a type, or of a member function's this.
type quals uint8

const (
	isConst quals = 1 << iota
	isVolatile
	isRestrict
	isUnaligned
	// isMember: the letter is one of those for members of a class.
	isMember
)

// qualifiers has const and volatile by letter.
var qualifiers = [128]struct {
	known bool
	q     quals
}{
	'A': {true, 0}, 'B': {true, isConst}, 'C': {true, isVolatile}, 'D': {true, isConst | isVolatile},
	'Q': {true, isMember}, 'R': {true, isMember | isConst}, 'S': {true, isMember | isVolatile},
	'T': {true, isMember | isConst | isVolatile},
}

// pointers has the pointer and reference types by letter.
var pointers = [128]struct {
	text string
	q    quals
}{'A': {"&", 0}, 'P': {"*", 0}, 'Q': {"*", isConst}, 'R': {"*", isVolatile}, 'S': {"*", isConst | isVolatile}}

// byLetter returns the entry of a table for a letter, or the zero value.
func byLetter[T any](table *[128]T, c byte) (v T) {
	if c < 128 {
		v = table[c]
	}
	return v
}
