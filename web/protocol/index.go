package protocol

// PlanIndex asks how the symbol file of Item is cut into chunks for Cores workers, and, with Keep, under which name its index is kept. With Send
// the page does not have the file, which was unpacked: it comes with the answer, or the answer is Apart.
type PlanIndex struct {
	Item, Cores int
	Keep, Send  bool
}

// IndexPlanned has the offsets at which chunks begin and end. Apart: the file cannot be cut, and is indexed by IndexWhole.
type IndexPlanned struct {
	Item  int
	Cuts  []int64
	Key   string // "" if the index is not kept
	Apart bool
}

// IndexChunk makes the index of the file that comes with it, from From to To. It needs no other request before it.
type IndexChunk struct {
	Name     string
	From, To int64
}

// ChunkIndexed comes with that index. Apart: it cannot be joined with those of other chunks.
type ChunkIndexed struct{ Apart bool }

// JoinChunk comes with the index of chunk Part of Parts of Item's file. With the last one the file has its full index.
type JoinChunk struct {
	Item, Part, Parts int
	Keep              bool // the full index is to come with the last answer
}

// ChunkJoined answers that. Exact: it was the last chunk. Apart: the chunks cannot be joined.
type ChunkJoined struct {
	Item         int
	Key          string
	Exact, Apart bool
}

// IndexWhole has the engine itself index Item's file while nobody asks for anything (On), or stops that. The answer comes when it is indexed.
type IndexWhole struct {
	Item int
	On   bool
}

// WholeIndexed answers that.
type WholeIndexed struct {
	Item  int
	Exact bool
}

func (*PlanIndex) request()  {}
func (*IndexPlanned) reply() {}
func (*IndexChunk) request() {}
func (*ChunkIndexed) reply() {}
func (*JoinChunk) request()  {}
func (*ChunkJoined) reply()  {}
func (*IndexWhole) request() {}
func (*WholeIndexed) reply() {}
