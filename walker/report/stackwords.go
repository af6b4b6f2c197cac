package report

import "fmt"

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
	// Register is the saved register, or that of an argument for which the word is kept free.
	Register string
	// Number is that of the word among a frame's arguments, from 1 on, Of how many there are, 0 if that is not
	// known. Guess: only the calling convention says that it is one.
	Number, Of int
	Guess      bool
}

// Words says what a word is to a frame of the thread t: "rbx of frame 2, saved by frame 1".
func (r *StackRole) Words(t *Thread) string {
	frame := t.Number(r.Frame)
	switch r.Kind {
	case RoleReturn:
		return fmt.Sprintf("return address of frame %d", frame)
	case RoleFramePointer:
		return fmt.Sprintf("frame pointer (%s) of frame %d, saved by frame %d", r.Register, frame, frame-1)
	case RoleSaved:
		return fmt.Sprintf("%s of frame %d, saved by frame %d", r.Register, frame, frame-1)
	case RoleRead:
		return fmt.Sprintf("read by the rules that lead to frame %d", frame)
	}
	switch { // RoleArgument
	case r.Register != "":
		return fmt.Sprintf("space for %s, argument %d of frame %d, if it was stored (guess)", r.Register, r.Number, frame)
	case r.Guess:
		return fmt.Sprintf("argument area of frame %d (guess)", frame)
	}
	return fmt.Sprintf("argument word %d of %d of frame %d", r.Number, r.Of, frame)
}

// RoleKind is a kind of a StackRole; stable words.
type RoleKind string

const (
	RoleReturn       RoleKind = "return"        // the return address of the frame
	RoleSaved        RoleKind = "saved"         // a register of the frame, which the frame it called has saved
	RoleFramePointer RoleKind = "frame-pointer" // that, of the frame pointer
	RoleArgument     RoleKind = "argument"      // an argument of the frame
	RoleRead         RoleKind = "read"          // a rule needed it for something else
)
