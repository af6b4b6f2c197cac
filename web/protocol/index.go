package protocol

// The full index of a large symbol file is made by several workers:
//
//	PlanIndex     page → engine    how to cut the file into chunks
//	IndexChunk    page → worker    for each chunk, its index
//	JoinChunk     page → engine    for each chunk's index, to join them
//	IndexWhole    page → engine    where this cannot be done: the engine indexes the file itself

// PlanIndex asks how to cut the symbol file of Item into chunks for Cores workers and, with Keep, for the key under which its index is stored. With
// Send the page does not have the file, because it was unpacked from an archive: the engine sends it beside the answer, or answers Whole.
type PlanIndex struct {
	Item, Cores int
	Keep, Send  bool
}

// IndexPlanned has the offsets at which chunks begin and end. Whole: the file cannot be cut, so IndexWhole must index it.
type IndexPlanned struct {
	Item  int
	Cuts  []int64
	Key   string // "" if the index is not stored
	Whole bool
}

// IndexChunk asks for the index of a chunk, [From, To), of the file that is sent beside it. A worker needs no other request before it.
type IndexChunk struct {
	Name     string
	From, To int64
}

// ChunkIndexed is sent with that index beside it. Whole: it cannot be joined with those of other chunks.
type ChunkIndexed struct{ Whole bool }

// JoinChunk is sent with the index of chunk Part of Parts beside it. With the last chunk, Item's file has its full index.
type JoinChunk struct {
	Item, Part, Parts int
	Keep              bool // send the full index beside the last answer
}

// ChunkJoined answers JoinChunk. Complete: it was the last chunk, and the file has its full index. Whole: the chunks cannot be joined.
type ChunkJoined struct {
	Item            int
	Key             string
	Complete, Whole bool
}

// IndexWhole has the engine index Item's file itself (On), or tells it that the file will get no index, so that stacks need not wait for one.
type IndexWhole struct {
	Item int
	On   bool
}

// WholeIndexed answers IndexWhole. Complete: the file has its full index.
type WholeIndexed struct {
	Item     int
	Complete bool
}

func (*PlanIndex) request()  {}
func (*IndexPlanned) reply() {}
func (*IndexChunk) request() {}
func (*ChunkIndexed) reply() {}
func (*JoinChunk) request()  {}
func (*ChunkJoined) reply()  {}
func (*IndexWhole) request() {}
func (*WholeIndexed) reply() {}
