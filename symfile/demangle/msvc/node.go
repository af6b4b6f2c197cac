package msvc

// kind is the kind of a node. Comments say which fields it uses; print.go shows how it is written.
type kind uint8

const (
	// Types.
	primitive    kind = iota // text
	tagged                   // a class, struct, union or enum: text is that word, inner the name
	custom                   // inner is the identifier
	pointer                  // text is "*", "&", "&&", "^" or "%", inner the type that it points to, name the class if it points to a member
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
	structor   // an initializer or destructor of a variable: text says which, inner is the variable

	// Template arguments that are values.
	literal   // text
	reference // text is "&" or "", inner is a symbol or nil, list has offsets
	aggregate // a value of class type: inner is the type, list are the members
	member    // text is the member, inner what it is a member of
	element   // name is the number, inner the array

	// Symbols.
	function // name, sig
	variable // name, inner is the type, class the access
	table    // a vftable or vbtable: name, list has the bases that it is for
	typeInfo // inner is the type, text the kind of information
	verbatim // text
)

// node is a part of a name. Back references share nodes, so a shared node never changes. There are
// no cycles.
type node struct {
	kind  kind
	quals quals
	args  bool  // an identifier has a list of template arguments, maybe an empty one
	class class // of a variable
	text  string
	// source is the text of an identifier in the mangled name, by which memorize compares. For a
	// pointer it is the __ptrauth qualifier.
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
	thunk      string // the adjustment of a thunk
	isThunk    bool
	result     *node // nil if the name does not state it
	params     []*node
	this       bool // the first parameter is an explicit object parameter (C++23)
	void       bool // there are no parameters: "(void)" in the complete form
}
