package report

// StackWords is a window of the words of a thread's stack, from its stack pointer on: the words From
// and after of Total.
type StackWords struct {
	Thread      int
	From, Total int
	WordSize    int
	// Selected is the number of the first word of the frame that was asked for, or -1.
	Selected int
	Rows     []StackWord
}

// StackWord is a word of a stack, and what the walk found out about it.
type StackWord struct {
	Address, Value uint64
	// Frame is the frame whose memory it is: from its stack pointer to that of its caller. It is -1 after the
	// last one.
	Frame int
	Roles []StackRole
	// PassedBy says why a scan of the stack did not take the word for a return address, or is "".
	PassedBy string
	// Canary: the word is the value with which the C library's stack protector detects overflows.
	Canary bool
	Points Pointee
}

// StackRole is what the rules of a frame read a word for.
type StackRole struct {
	Kind  RoleKind
	Frame int // whose value it is
	// Register is the saved register.
	Register string
}

// RoleKind is a kind of a StackRole; stable words.
type RoleKind string

const (
	RoleReturn       RoleKind = "return"        // the return address of the frame
	RoleSaved        RoleKind = "saved"         // a register of the frame, which the frame it called has saved
	RoleFramePointer RoleKind = "frame-pointer" // that, of the frame pointer
	RoleRead         RoleKind = "read"          // a rule needed it for something else
)
