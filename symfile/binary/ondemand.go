package binary

import "github.com/crashpane/crashpane/core/input"

// onDemand is a part of one of the files, opened when it is needed.
type onDemand[T any] struct {
	section string // its name: ".eh_frame", "module streams"
	src     *input.Source
	open    func() (T, error)
	opened  bool
	table   T
	err     error // the error of open, unless another try may succeed
}

// get opens the part. It keeps an error of the file, but none that says only that the opening was
// interrupted.
func (o *onDemand[T]) get() (T, error) {
	if !o.opened {
		table, err := o.open()
		if o.src.Interrupted(err) {
			return o.table, err
		}
		if o.opened, o.err = true, err; err == nil {
			o.table = table // not with an error: table may be a nil pointer in an interface that is not nil
		}
	}
	return o.table, o.err
}

// warnings returns the error of opening, or what was passed over in the part since.
func (o *onDemand[T]) warnings() []string {
	if o.err != nil {
		return []string{o.err.Error()}
	}
	if t, ok := any(o.table).(interface{ Warnings() []string }); ok {
		return t.Warnings()
	}
	return nil
}
