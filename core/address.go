package core

// FileOff is an offset in the dump file, which the format calls RVA. Addresses in the crashed
// process are plain uint64. In symfile and walker RVA is an address relative to a module.
type FileOff uint64

// Location is a run of bytes in the dump file.
type Location struct {
	Off  FileOff
	Size uint64
}

// In reports whether all of it is inside a file of that many bytes.
func (l Location) In(size int64) bool {
	return uint64(l.Off) <= uint64(size) && l.Size <= uint64(size)-uint64(l.Off)
}
