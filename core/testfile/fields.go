package testfile

import (
	"fmt"
	"reflect"
)

// Fill sets every exported field that v points to, also those of the structs, pointers and slices in it, to something
// that is not zero. A slice gets one element.
func Fill(v any) { fill(reflect.ValueOf(v).Elem()) }

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1_000_000) // of a duration, a millisecond
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	default:
		panic("a field of type " + v.Type().String())
	}
}

// Unused returns the fields of what v points to, as "Threads[0].Name", on which an output does not depend: it is the
// same when they are zero. Fields that are zero already are not looked at.
func Unused(v any, output func() string) []string {
	u := unused{full: output(), output: output}
	u.look(reflect.ValueOf(v).Elem(), "")
	return u.paths
}

type unused struct {
	full   string
	output func() string
	paths  []string
}

func (u *unused) look(v reflect.Value, path string) {
	switch {
	case v.IsZero():
	case v.Kind() == reflect.Pointer:
		u.look(v.Elem(), path)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			u.look(v.Field(i), name)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			u.look(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.SetZero()
		if u.output() == u.full {
			u.paths = append(u.paths, path)
		}
		v.Set(was)
	}
}
