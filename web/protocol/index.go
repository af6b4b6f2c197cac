package protocol

// IndexFile has Item's symbol file fully indexed, alongside the engine's other work. With Keep an
// index that the browser stores is used instead, and a new one is stored.
type IndexFile struct {
	Item int
	Keep bool
}

// FileIndexed answers IndexFile when the file has its full index; the answer's Error says why it
// will get none.
type FileIndexed struct{ Item int }

// StopIndexing ends all that IndexFile began. No FileIndexed comes for it.
type StopIndexing struct{}

// IndexingStopped answers StopIndexing.
type IndexingStopped struct{}

func (*IndexFile) request()     {}
func (*FileIndexed) reply()     {}
func (*StopIndexing) request()  {}
func (*IndexingStopped) reply() {}
