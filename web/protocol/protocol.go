// Package protocol has the messages between the page and the engine in its worker. The page sends a
// Call with one of the request types. The engine sends an Answer with the reply type of the same
// row of the table ops; it also sends some replies without a request. Files are not part of the
// encoded message: they are sent along with it, as objects of the browser.
//
// A new operation is two types, a row of the table, a case in wasm/engine and one in
// web/app. Begin with query.go, which has the query for what is on the screen.
package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/crashpane/crashpane/web/wire"
)

// Request is a pointer to a request type: the first column of the table.
type Request interface{ request() }

// Reply is a pointer to a reply type: the second column of the table.
type Reply interface{ reply() }

// ops are the operations. A message begins with the number of its row.
var ops = [...]struct {
	request Request
	reply   Reply
}{
	{&Add{}, &Added{}},
	{&CloseDump{}, &Closed{}},
	{&LeaveOut{}, &Closed{}},
	{&Query{}, &QueryResult{}},
	{&Assign{}, &Changed{}},
	{&Unassign{}, &Changed{}},
	{&SetPolicy{}, &Changed{}},
	{&IgnoreCFI{}, &Changed{}},
	{&ListMissing{}, &Missing{}},
	{&Export{}, &Exported{}},
	{&ExportDumps{}, &Exported{}},
	{&FindMemory{}, &MemoryFound{}},
	{&WriteSym{}, &SymWritten{}},
	{&IndexFile{}, &FileIndexed{}},
	{&StopIndexing{}, &IndexingStopped{}},
	// The engine sends these without a request.
	{nil, &Progress{}},
	{nil, &Walked{}},
	{nil, &RemoteFailed{}},
	{nil, &Described{}},
	{nil, &SymText{}},
}

// Call is a message to the engine. Its answers have the same ID. With Redact the engine leaves
// private data out of its answers (engine/redact.go). Every call has Redact, so that a restarted
// engine knows it from its first message.
type Call struct {
	ID      int
	Redact  bool
	Request Request
}

// Answer is a message of the engine. Error says why the request failed, fully or in part; the
// engine keeps running. ID is 0 without a request.
type Answer struct {
	ID    int
	Error string
	Reply Reply
}

// ErrUnknown means that no row of the table has the message's number.
var ErrUnknown = errors.New("a message is of an unknown operation")

// AppendCall appends an encoded call to b.
func AppendCall(b []byte, c Call) []byte {
	for row := range ops {
		if reflect.TypeOf(ops[row].request) == reflect.TypeOf(c.Request) {
			b = head(b, row, c.ID)
			b = wire.Append(b, c.Redact)
			return wire.Append(b, reflect.ValueOf(c.Request).Elem().Interface())
		}
	}
	panic(fmt.Sprintf("protocol: %T is in no row", c.Request))
}

// AppendAnswer appends an encoded answer to b. If text is not nil, it replaces each text.
func AppendAnswer(b []byte, a Answer, text func(string) string) []byte {
	for row := range ops {
		if reflect.TypeOf(ops[row].reply) == reflect.TypeOf(a.Reply) {
			b = head(b, row, a.ID)
			b = wire.AppendWith(b, a.Error, text)
			return wire.AppendWith(b, reflect.ValueOf(a.Reply).Elem().Interface(), text)
		}
	}
	panic(fmt.Sprintf("protocol: %T is in no row", a.Reply))
}

// ReadCall decodes a call. No content of a message makes it panic.
func ReadCall(b []byte) (c Call, err error) {
	row, id, b := readHead(b)
	if row >= len(ops) || ops[row].request == nil {
		return Call{}, ErrUnknown
	}
	c.ID = id
	if b, err = wire.ReadNext(b, &c.Redact); err == nil {
		c.Request = reflect.New(reflect.TypeOf(ops[row].request).Elem()).Interface().(Request)
		err = wire.Read(b, c.Request)
	}
	return c, err
}

// ReadAnswer decodes an answer.
func ReadAnswer(b []byte) (a Answer, err error) {
	row, id, b := readHead(b)
	if row >= len(ops) {
		return Answer{}, ErrUnknown
	}
	a.ID = id
	if b, err = wire.ReadNext(b, &a.Error); err == nil {
		a.Reply = reflect.New(reflect.TypeOf(ops[row].reply).Elem()).Interface().(Reply)
		err = wire.Read(b, a.Reply)
	}
	return a, err
}

// head appends the start of a message: a byte with its row, and its ID.
func head(b []byte, row, id int) []byte {
	return binary.AppendUvarint(append(b, byte(row)), uint64(id))
}

// readHead returns a row that does not exist if the message is too short.
func readHead(b []byte) (row, id int, rest []byte) {
	if len(b) == 0 {
		return len(ops), 0, nil
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 {
		return len(ops), 0, nil
	}
	return int(b[0]), int(n), b[1+size:]
}

// Requests returns an empty request of each type, for tests.
func Requests() (all []Request) {
	for _, o := range ops {
		if o.request != nil {
			all = append(all, reflect.New(reflect.TypeOf(o.request).Elem()).Interface().(Request))
		}
	}
	return all
}

// Replies returns an empty reply of each type, for tests.
func Replies() (all []Reply) {
	for _, o := range ops {
		all = append(all, reflect.New(reflect.TypeOf(o.reply).Elem()).Interface().(Reply))
	}
	return all
}
