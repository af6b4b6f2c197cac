package msvc

// kind is what a node is. The printer (print.go) says what each looks like.
type kind uint8

const (
	// Types.
	primitive    kind = iota // text
	tagged                   // text is the tag, inner the name
	custom                   // inner is the identifier
	pointer                  // text is "*", "&", "&&", "^" or "%"; inner what it points to, class whose member that is
	array                    // inner is the element, list the dimensions
	managed                  // cli::array: inner is the element, text the number of dimensions if not 1
	functionType             // sig

	// Names.
	qualified  // list, outermost first
	identifier // text, and list if there are template arguments
	destructor // inner is the class
	constructor
	conversion // inner is the type
	localScope // inner is the function, text its block's number
	structor   // text says which; inner is the symbol it initializes

	// Template arguments that are values.
	literal   // text
	reference // text is "&" or ""; inner is a symbol, or nil; list are offsets
	aggregate // a value of class type: inner is the type, list are the members
	member    // text is the member, inner what it is a member of
	element   // name is the number, inner the array

	// Symbols.
	function // name, sig
	variable // name, inner is the type, class the access
	table    // name, list are the bases it is for
	typeInfo // inner is the type, text what it is
	verbatim // text
)

// node is a part of a name. It is not changed once it may be referred to from elsewhere, so that trees can share it; they do so
// without circles.
type node struct {
	kind  kind
	quals quals
	args  bool  // an identifier has template arguments, maybe none
	class class // of a variable
	text  string
	// source is the text that an identifier was read from, by which back references know it. Of a pointer, it is what __ptrauth says.
	source string
	inner  *node
	name   *node // of a symbol; of a pointer to member, the class
	list   []*node
	sig    *signature
}

// signature is the type of a function.
type signature struct {
	class      class
	quals      quals
	variadic   bool
	noexcept   bool
	convention string
	ref        string // " &" or " &&"
	thunk      string // what a thunk adjusts
	isThunk    bool
	result     *node // nil if none is said
	params     []*node
	this       bool // the first parameter is the object
	void       bool // there are no parameters, which is written (void)
}
