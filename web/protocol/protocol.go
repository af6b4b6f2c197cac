// Package protocol is what the page and the engine in its worker say to each other. The page calls (Call) with one of the request types, the
// engine answers (Answer) with the reply type of the same row of the table ops; some replies come by themselves, between the others. Files go
// beside a message, as the browser's own objects.
//
// A new operation is two types, a row of the table, a case in wasm/viewer/engine and one in web/app.
package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/crashpane/crashpane/web/wire"
)

// Request is a pointer to what the page asks for: a type of the table's first column.
type Request interface{ request() }

// Reply is a pointer to what the engine answers: a type of the table's second column.
type Reply interface{ reply() }

// ops are the operations. A message carries the number of its row.
var ops = [...]struct {
	request Request
	reply   Reply
}{
	{&Add{}, &Added{}},
	{&CloseDump{}, &Closed{}},
	{&Look{}, &Looked{}},
	{&Assign{}, &Changed{}},
	{&Unassign{}, &Changed{}},
	{&SetPolicy{}, &Changed{}},
	{&IgnoreCFI{}, &Changed{}},
	{&ListMissing{}, &Missing{}},
	{&Export{}, &Exported{}},
	{&WriteSym{}, &SymWritten{}},
	{&PlanIndex{}, &IndexPlanned{}},
	{&IndexChunk{}, &ChunkIndexed{}},
	{&JoinChunk{}, &ChunkJoined{}},
	{&IndexWhole{}, &WholeIndexed{}},
	// Nobody asks for these.
	{nil, &Progress{}},
	{nil, &Walked{}},
	{nil, &RemoteFailed{}},
	{nil, &SymText{}},
}

// Call is a message to the engine. Answers carry its ID. With Redact texts come without what is private (engine/redact.go); every call says it, so
// that an engine that was started anew knows it from its first message.
type Call struct {
	ID      int
	Redact  bool
	Request Request
}

// Answer is a message of the engine. Error says why the request was not done, or not wholly; the engine lives. ID is 0 if nobody asked.
type Answer struct {
	ID    int
	Error string
	Reply Reply
}

// ErrUnknown means that a message is of no row of the table.
var ErrUnknown = errors.New("a message is of an unknown operation")

// AppendCall writes a call behind b.
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

// AppendAnswer writes an answer behind b, with what text makes of each text, if it is not nil.
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

// ReadCall reads a call. It panics on nothing that a message can hold.
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

// ReadAnswer reads an answer.
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

// head begins a message: its row in a byte, its number.
func head(b []byte, row, id int) []byte {
	return binary.AppendUvarint(append(b, byte(row)), uint64(id))
}

// readHead answers a row that does not exist if there is no head.
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

// Requests are the requests of the table, each empty.
func Requests() (all []Request) {
	for _, o := range ops {
		if o.request != nil {
			all = append(all, reflect.New(reflect.TypeOf(o.request).Elem()).Interface().(Request))
		}
	}
	return all
}

// Replies are the replies of the table, each empty.
func Replies() (all []Reply) {
	for _, o := range ops {
		all = append(all, reflect.New(reflect.TypeOf(o.reply).Elem()).Interface().(Reply))
	}
	return all
}
