// Package walker finds out what the stack was: one loop that asks sources for rules (Rows), applies
// them with the one evaluator of package unwind, checks the result, and keeps why.
//
// Start with walk.go, the loop. propose.go asks the sources, one after the other; validate.go and
// refute.go check what they propose; outermost.go says where a stack is complete. What differs
// between the peers and us is in a Policy, what differs between CPUs in core/cpu's tables: there is
// no code for one policy or one CPU.
package walker

import "github.com/crashpane/crashpane/core"

// Policy is how to walk, as data: which sources in which order, how far to scan, and which checks
// hold. The two peers are policies, and so is Best. The loop is the same for all of them.
type Policy struct {
	// Name is the stable word of --unwind.
	Name string
	// Sources are tried in this order for every frame; one that has nothing to say about a CPU or
	// system proposes nothing.
	Sources []Source

	// MaxFrames ends a walk; MaxScanned is how many scanned frames a stack may have before scanning
	// is given up.
	MaxFrames, MaxScanned int
	// KeptFrames is how many frames of a stack are kept before a recursion is walked without keeping its frames
	// (Frame.Skipped); 0 keeps all.
	KeptFrames int

	Scan         ScanRules
	FramePointer FramePointerRules
	Win          WinRules
	Pointer      PointerRules

	// Normalized: the dump's fields are what they mean (core.Dump.Normalized). The peers take them
	// at their word.
	Normalized bool
	// Overlap says what becomes of two modules that cover the same address.
	Overlap core.Overlap
	// MergeEntries: entries of the module list that are parts of one file are one module, whose
	// addresses are relative to where the file's first part is. Otherwise, as in both peers, each
	// entry is a module with a base of its own.
	MergeEntries bool
	// CFINotOnIOSArm: the STACK CFI of 32-bit iOS binaries is not used (Breakpad issue 764).
	CFINotOnIOSArm bool
	// CFIWhole: call frame information is rejected if any of its rules fails, not only those of cfa
	// and ra.
	CFIWhole bool
	// CFINonZero: call frame information that yields pc or sp 0 is rejected, and the next source is
	// tried; amd64 only.
	CFINonZero bool
	// CFINeedsFP: on x86 a CFI result without ebp is rejected.
	CFINeedsFP bool
	// CFILostFP: but not if the frame's own ebp is unknown. Go's code keeps none.
	CFILostFP bool
	// FixSwapped: x86 rules that have esp and ebp in each other's place are put right.
	FixSwapped bool
	// LeafOnWindows: on amd64 Windows functions without unwind data do not move sp, so frame 0's
	// return address may be the word at sp, or the one above it.
	LeafOnWindows bool
	// NullLeaf: on CPUs that push return addresses, a thread that was stopped or interrupted by a
	// signal at an address in the first page called a null pointer: its return address is still at
	// sp. Otherwise such an address in a signal's frame ends the stack, as it does where no return
	// address is at sp.
	NullLeaf bool
	// EqualSP: frame 0's caller may have the same sp, as a leaf's does that keeps its return
	// address in a register.
	EqualSP EqualSP
	// EndAtOutermost: no caller is guessed for a function that the system enters (_start, clone,
	// RtlUserThreadStart).
	EndAtOutermost bool
	// ProveEnd: a return address in the first page is a stack's end only if it is 0 and every frame
	// was found by rules or a chain of frame pointers. Otherwise the walk got lost.
	ProveEnd bool
	// CallPC: on mips a caller's pc is that of the call, before the
	// return address, which is in ra.
	CallPC bool
	// PPCByOS: on 32-bit powerpc a frame keeps its return address where the system's convention has
	// it: one word above the caller's frame, and two on macOS. Otherwise two everywhere.
	PPCByOS bool
	// StackAtSP: the thread's stack is the memory around its sp, if that is not in the range that
	// the thread names.
	StackAtSP bool
	// Images: programs in the dump's memory give rules and names. The peers know those of files alone.
	Images bool
	// ShortContexts: the stacks of threads whose context record lacks its end are walked.
	ShortContexts bool
	// JoinRanges: the thread's stack is all that the dump has without a gap around its sp, in as
	// many memory ranges as the writer made of it; and rules that count from sp reach what is above
	// a gap. Otherwise it is one range.
	JoinRanges bool
	// Refute: a caller is not taken where its pc cannot be that of an instruction, or where the
	// stack pointer has left the dump's memory; the next source is asked. The same holds for the
	// words of a scan.
	Refute bool
	// ProveCode: rules that lead to an address in no module are trusted only if something shows that
	// there is code: the memory map, a call before the address, a module that was unloaded.
	ProveCode bool
	// ReturnToEntry: a program that makes a stack (makecontext) has its first function return to the
	// first instruction of another one. Such a frame is looked up there.
	ReturnToEntry bool
	// SignalByCode: the code that returns from a signal's handler is known by its instructions. The
	// address of the first is where such a frame is looked up, and no return address of a call.
	SignalByCode bool
	// InterruptedAsContext: a frame that a signal interrupted is as frame 0: lr may be its return
	// address, and its caller may have its sp.
	InterruptedAsContext bool
	// CodeAtFrame0: where a thread was stopped, rules that hold at calls alone are not used if the
	// function's code says more.
	CodeAtFrame0 bool
	// AsyncFP: on Apple's systems the frame pointer that Swift's async functions save has a mark, which
	// is not part of it.
	AsyncFP bool
	// OtherStacks: where a frame's sp is on another stack than its callee's, as above a signal
	// handler that has a stack of its own, words are read from the memory that the dump has there.
	// Above a signal's frame that stack may be at lower addresses.
	OtherStacks bool
	// GoSwitch: where Go's runtime switched stacks, the caller is on the goroutine's stack, or the
	// walk ends.
	GoSwitch bool
	// NamesEnd: a name from an export or a public symbol counts only as far as its function may
	// reach. Otherwise it counts up to the next name.
	NamesEnd bool
}

// ScanRules say how the stack is searched for return addresses.
type ScanRules struct {
	// Words are searched above sp, ExtendedWords if the callee is frame 0: its state is the least
	// certain.
	Words, ExtendedWords int
	// ExtendAfterCFI: the long search also above a frame that call frame information found. A
	// trusted frame above code without unwind data is what generated code looks like. On CPUs with
	// words of 64 bits.
	ExtendAfterCFI bool
	// RejectNonCanonical: words that cannot be addresses are not looked up.
	RejectNonCanonical bool
	// AfterCall: a word counts only if the instruction before the place it points to is a call,
	// where the dump has the code.
	AfterCall bool
	// Reach: a word does not count if the call before the place it points to calls another function
	// than that of the frame below, and that does not jump on to it. A search ends with the mapping
	// of its stack, and beyond its words it goes on for a call that does lead there, in code that the
	// module's rules or symbols know.
	Reach bool
	// WithFP: on CPUs whose table says so (mips) a return address counts only with a frame pointer
	// below it, within a frame of 1024 bytes.
	WithFP bool
	// FP says how the frame pointer is carried over a scanned frame.
	FP ScanFP
}

// ScanFP is a way to guess the caller's frame pointer next to a return address that a scan found.
type ScanFP uint8

const (
	// ScanFPBreakpad: amd64: rbp pointed to the word below → that word if it is above the return
	// address; or unchanged if it is above. x86: the word below if its value is above, less than
	// 128 KB away, else unchanged.
	ScanFPBreakpad ScanFP = iota
	// ScanFPRust: the same ideas with a limit of 128 KB on both, the result inside the stack, and
	// nothing if the return address was the first word.
	ScanFPRust
)

// FramePointerRules are the checks of the frame-pointer source.
type FramePointerRules struct {
	// Stale: a frame pointer that is not known any more is still tried with its last value.
	Stale bool
	// Aligned: on amd64 the frame pointer must be a multiple of 8.
	Aligned bool
	// SPInStack: on amd64 the caller's sp must be in the stack.
	SPInStack bool
	// WindowsAMD64: tried on Windows amd64 too, where a frame register may point up to 240 bytes
	// into the frame.
	WindowsAMD64 bool
	// FromLR: on arm64 and iOS arm the caller's pc is the callee's lr, and the word at fp+8 its
	// next lr. Otherwise pc is the word at fp+8.
	FromLR bool
	// LeafByLR: frame 0's lr is its return address if the function made no call yet, which the
	// functions that pc and lr are in tell. Otherwise all CPUs but 32-bit arm take the saved word
	// next to the frame pointer, whatever FromLR says, and a frame pointer of 0 ends a stack only if
	// it was read from a frame.
	LeafByLR bool
	// Verify: a frame whose return address is known not to follow a call, or that does not move up
	// the stack, is rejected, and the next source is tried. Otherwise the latter ends the walk.
	Verify bool
	// LastOfChain: on amd64, functions that keep a frame pointer are called by others that do not.
	// So above a frame that was found by its frame pointer, the next one's saved frame pointer need
	// not be in the stack, if the instruction before the return address is a call.
	LastOfChain bool
	// LRInModule: frame 0's lr counts only if it is in a module: functions that have saved it use
	// it as they like. Else pc is the word at fp+8.
	LRInModule bool
}

// WinRules are the helps for STACK WIN.
type WinRules struct {
	// Scan: the return address is searched near the computed place, and again where the rules end
	// outside of modules.
	Scan bool
	// YoungestParams: of all callees that have a parameter size, the youngest one's is used, as
	// Breakpad's loop does that does not stop at the first; otherwise the direct callee's.
	YoungestParams bool
	// FuncParams: a FUNC record's parameter size counts where there is no STACK WIN record.
	FuncParams bool
	// OnlyAssigned: registers that the program does not assign are unknown; otherwise callee-saved
	// ones are unchanged.
	OnlyAssigned bool
	// UnsavedSame: OnlyAssigned does not count where the program assigns as many registers as the
	// record says were saved.
	UnsavedSame bool
	// NumberedRegs: a program's $17 to $24 are registers by Microsoft's numbers, and not
	// temporaries.
	NumberedRegs bool
}

// PointerRules say how pointer authentication codes (arm64) are taken off.
type PointerRules struct {
	// MinBits is the least number of address bits; the mask is widened to cover the highest module.
	MinBits int
	// OnlyIntoModule: the code is removed only if the result is in a module.
	OnlyIntoModule bool
	// FP: taken off frame pointers too.
	FP bool
	// ContextLR: taken off frame 0's lr.
	ContextLR bool
}

// EqualSP says where a caller may have its callee's sp.
type EqualSP uint8

const (
	// EqualSPAtContext: at frame 0, on every CPU.
	EqualSPAtContext EqualSP = iota
	// EqualSPArm: where the CPU's table says so (cpu.EqualSP): at frame 0 on arm and arm64; on
	// arm64 also by call frame information if pc changed.
	EqualSPArm
)

// allSources are the sources in Breakpad's order. None of the peers knows shadow stacks.
var allSources = []Source{SourceWin, SourceCFI, SourceLeaf, SourceFramePointer, SourceScan}

// Breakpad walks as Breakpad's processor does (stackwalker.cc and stackwalker_*.cc).
var Breakpad = Policy{
	Name:       "breakpad",
	Sources:    allSources,
	MaxFrames:  1 << 20,
	MaxScanned: 1 << 14,
	// The search loop runs to sp + words × size inclusive: one word more than its constant says.
	Scan:           ScanRules{Words: 41, ExtendedWords: 161, WithFP: true, FP: ScanFPBreakpad},
	FramePointer:   FramePointerRules{Stale: true, Aligned: true, FromLR: true},
	Win:            WinRules{Scan: true, YoungestParams: true, FuncParams: true, OnlyAssigned: true},
	Pointer:        PointerRules{OnlyIntoModule: true, ContextLR: true},
	Overlap:        core.OverlapTruncate,
	CFINotOnIOSArm: true,
	CFIWhole:       true,
	CFINonZero:     true,
	CFINeedsFP:     true,
	LeafOnWindows:  true,
	CallPC:         true,
	EqualSP:        EqualSPAtContext,
}

// RustMinidump walks as rust-minidump's minidump-unwind does.
var RustMinidump = Policy{
	Name:         "rust-minidump",
	Sources:      allSources,
	MaxFrames:    1 << 20,
	MaxScanned:   1 << 20,
	Scan:         ScanRules{Words: 40, ExtendedWords: 160, ExtendAfterCFI: true, RejectNonCanonical: true, FP: ScanFPRust},
	FramePointer: FramePointerRules{SPInStack: true, WindowsAMD64: true},
	Win:          WinRules{},
	Pointer:      PointerRules{MinBits: 47, FP: true},
	Overlap:      core.OverlapDrop,
	StackAtSP:    true,
	EqualSP:      EqualSPArm,
}

// Best is the policy of the page and the command: Breakpad's walk, changed where an oracle shows
// that another way is right. What it keeps of Breakpad's guesses (the length of a scan, how ebp is
// carried over it) no oracle contradicts; longer scans find a few frames more and invent ten times
// as many.
var Best = best()

// best is Breakpad's policy with what has been found to give more or better frames.
func best() Policy {
	p := Breakpad
	p.Name = "best"
	p.KeptFrames = 1000
	p.Sources = []Source{SourceSignal, SourceWin, SourceCFI, SourceShadow, SourceCode, SourceLeaf, SourceFramePointer, SourceScan}
	// esp points at the arguments of the function that was called, and of no other.
	p.Win.YoungestParams = false
	p.Win.UnsavedSame = true
	p.Win.NumberedRegs = true
	p.Scan.ExtendAfterCFI = true
	p.JoinRanges = true
	p.Images = true
	p.ShortContexts = true
	p.PPCByOS = true
	// The delay slot is one instruction: the call is 8 bytes before the return address on mips64
	// too.
	p.CallPC = false
	// Compilers for mips keep no frame pointer by default.
	p.Scan.WithFP = false
	p.NullLeaf = true
	// No processor puts a signature into the lower 32 bits, which arm64_32's addresses have.
	p.Pointer.MinBits = 32
	p.Scan.RejectNonCanonical = true
	p.Scan.AfterCall = true
	p.Scan.Reach = true
	// A register that is lost does not make the others wrong.
	p.CFIWhole = false
	// Rules that give a return address of 0 are how the outermost frame's say that it has no
	// caller.
	p.CFINonZero = false
	p.CFILostFP = true
	p.FramePointer.LRInModule = true
	p.FramePointer.LastOfChain = true
	p.FramePointer.LeafByLR = true
	p.FramePointer.Verify = true
	p.FramePointer.Stale = false
	p.MergeEntries = true
	p.Normalized = true
	p.FixSwapped = true
	p.EndAtOutermost = true
	p.ProveEnd = true
	p.Refute = true
	p.ProveCode = true
	p.ReturnToEntry = true
	p.AsyncFP = true
	p.OtherStacks = true
	p.GoSwitch = true
	p.SignalByCode = true
	p.InterruptedAsContext = true
	p.CodeAtFrame0 = true
	p.NamesEnd = true
	return p
}

// CFIOnly, FPOnly and ScanOnly use one source each, with Best's checks: for comparing.
var (
	CFIOnly  = only("cfi", SourceWin, SourceCFI)
	FPOnly   = only("fp", SourceFramePointer)
	ScanOnly = only("scan", SourceScan)
)

// only returns the policy of some sources alone, for comparing.
func only(name string, sources ...Source) Policy {
	p := best()
	p.Name = name
	p.Sources = sources
	// Breakpad's STACK WIN helps scan; here only what the records say counts.
	p.Win.Scan = false
	return p
}

// Policies returns all policies, in the order in which the command line names them.
func Policies() []Policy { return []Policy{Best, Breakpad, RustMinidump, CFIOnly, FPOnly, ScanOnly} }

// PolicyByName finds a policy by the word of --unwind.
func PolicyByName(name string) (Policy, bool) {
	for _, p := range Policies() {
		if p.Name == name {
			return p, true
		}
	}
	return Policy{}, false
}
