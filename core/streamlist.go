package core

// DecodedStreams returns the types of stream that this package decodes, in the order in which it does.
func DecodedStreams() []StreamType {
	var out []StreamType
	for i := range streamTable {
		if streamTable[i].Decode != nil {
			out = append(out, streamTable[i].Type)
		}
	}
	return out
}

// List returns the ranges of the memory list (stream 5) in file order, those with bytes in the file.
func (m *Memory) List() []Region { return m.list }

// List64 returns those of the full memory list (stream 9).
func (m *Memory) List64() []Region { return m.list64 }
