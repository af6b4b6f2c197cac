package input

import "os"

// ClosedFile is the path of a file that is open only while it is read: a folder may have more files than
// a process may open.
type ClosedFile string

// ReadAt implements io.ReaderAt.
func (path ClosedFile) ReadAt(p []byte, off int64) (int, error) {
	f, err := os.Open(string(path))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}
