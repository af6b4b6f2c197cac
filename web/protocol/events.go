package protocol

// Progress reports how far a long step is. Total is 0 if it is unknown.
type Progress struct {
	Stage, Name string
	Done, Total int64
	Background  bool // it is about background work
}

// Walked says that all stacks of Dump are walked. Changed is how many frames differ from those that
// were shown before a symbol file had its full index.
type Walked struct{ Dump, Changed int }

// RemoteFailed says that no more parts of the file at URL can be read; the answer's Error says why.
// Changed: the file on the server has changed.
type RemoteFailed struct {
	URL     string
	Changed bool
}

func (*Progress) reply()     {}
func (*Walked) reply()       {}
func (*RemoteFailed) reply() {}
