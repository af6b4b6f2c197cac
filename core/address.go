package core

// Addr is an absolute address in the crashed process. FileOff is a position in the dump file ("RVA" in the format's
// own words). Module-relative addresses are RVA in symfile and walker; the three never mix.
type (
	Addr    uint64
	FileOff uint64
)

// Location is a run of bytes in the dump file.
type Location struct {
	Off  FileOff
	Size uint64
}

// In reports whether all of it is inside a file of that many bytes.
func (l Location) In(size int64) bool {
	return uint64(l.Off) <= uint64(size) && l.Size <= uint64(size)-uint64(l.Off)
}
