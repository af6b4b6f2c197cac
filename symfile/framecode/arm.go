package framecode

func decodeARM(m *machine, at uint64, code []byte) (int, flow) { return 0, flow{} }
