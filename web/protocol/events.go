package protocol

// Progress says how far a long step is. Total is 0 if it is not known.
type Progress struct {
	Stage, Name string
	Done, Total int64
	Later       bool // it belongs to work that nobody waits for
}

// Walked says that the stacks of Dump that were Pending are there. Changed is how many frames are others than before a file had its full index.
type Walked struct{ Dump, Changed int }

// RemoteFailed says that parts of the file at URL cannot be read any more, by the answer's Error. Changed: the server has another file by now.
type RemoteFailed struct {
	URL     string
	Changed bool
}

func (*Progress) reply()     {}
func (*Walked) reply()       {}
func (*RemoteFailed) reply() {}
