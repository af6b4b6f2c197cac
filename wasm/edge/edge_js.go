// Edge is the Cloudflare Worker of a hosted Crashpane: the site's files come from the static
// assets, past this program; what it answers is /symbols/, out of an R2 bucket, and /servers/,
// files of the symbol servers that its configuration lists. It never takes a dump.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/crashpane/crashpane/wasm/edge/store"
	"github.com/crashpane/crashpane/wasm/jsvalue"
	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
)

// The names of the bindings and variables in wrangler.jsonc.
const (
	bucketName  = "SYMBOLS"
	originsName = "SYMBOL_ORIGINS"
	tokenName   = "SYMBOL_TOKEN"
	maxAgeName  = "SYMBOL_MAX_AGE"
	serversName = "SYMBOL_SERVERS"
	leadsName   = "SYMBOL_REDIRECTS"
)

func main() {
	list := func(name string) []string { return strings.Fields(strings.ReplaceAll(variable(name), ",", " ")) }
	c := store.Config{Origins: list(originsName), Token: variable(tokenName), MaxAge: 3600, Redirects: list(leadsName)}
	servers, err := store.Servers(variable(serversName))
	if err != nil {
		fmt.Println(serversName + ": " + err.Error()) // into the Worker's log; no server is asked
	}
	c.Servers = servers
	if n, err := strconv.Atoi(variable(maxAgeName)); err == nil && n >= 0 {
		c.MaxAge = n
	}
	workers.Serve(store.Handler(bucket{cloudflare.GetBinding(bucketName)}, c, fetch))
}

// fetch implements store.Fetch. The server's stream is the answer's: no byte of it comes into this
// program.
func fetch(address string, header map[string]string) (*store.Upstream, error) {
	fields := map[string]any{"Accept-Encoding": "identity"}
	for name, value := range header {
		fields[name] = value
	}
	answer, err := await(js.Global().Get("fetch").Invoke(address, map[string]any{"method": "GET", "headers": fields, "redirect": "manual"}))
	if err != nil {
		return nil, err
	}
	return &store.Upstream{
		Status: answer.Get("status").Int(),
		Header: func(name string) string {
			if v := answer.Get("headers").Call("get", name); v.Type() == js.TypeString {
				return v.String()
			}
			return ""
		},
		Send: func(w http.ResponseWriter) error {
			raw, ok := w.(interface{ WriteRawJSBody(js.Value) })
			if !ok {
				return fmt.Errorf("the answer takes no stream")
			}
			raw.WriteRawJSBody(answer.Get("body"))
			return nil
		},
		Drop: func() {
			if body := answer.Get("body"); body.Truthy() {
				body.Call("cancel")
			}
		},
	}, nil
}

// variable is a variable or secret of the Worker; "" if it is not set. The library's own Getenv
// makes a text of what is undefined.
func variable(name string) string {
	if v := cloudflare.GetBinding(name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

// bucket is an R2 bucket. The library's own has no ranges.
type bucket struct{ js.Value }

// Head implements store.Bucket.
func (b bucket) Head(key string) (*store.Object, error) {
	if !b.Truthy() {
		return nil, fmt.Errorf("there is no bucket %s", bucketName)
	}
	o, err := await(b.Call("head", key))
	if err != nil || !o.Truthy() {
		return nil, err
	}
	out := &store.Object{Size: int64(o.Get("size").Float()), ETag: o.Get("httpEtag").String()}
	if m := o.Get("httpMetadata"); m.Truthy() {
		if e := m.Get("contentEncoding"); e.Type() == js.TypeString {
			out.Encoding = e.String()
		}
	}
	return out, nil
}

// Send implements store.Bucket. The bucket's stream is the answer's: no byte of it comes into this
// program.
func (b bucket) Send(w http.ResponseWriter, key string, off, n int64) error {
	raw, ok := w.(interface{ WriteRawJSBody(js.Value) })
	if !ok {
		return fmt.Errorf("the answer takes no stream")
	}
	if n == 0 {
		raw.WriteRawJSBody(js.Null())
		return nil
	}
	part := map[string]any{"range": map[string]any{"offset": float64(off), "length": float64(n)}}
	o, err := await(b.Call("get", key, part))
	if err != nil {
		return err
	}
	if !o.Truthy() {
		return fmt.Errorf("%s is gone", key)
	}
	raw.WriteRawJSBody(o.Get("body"))
	return nil
}

// await is a promise's value.
func await(promise js.Value) (js.Value, error) {
	value, reason := jsvalue.Await(promise)
	if reason.Truthy() {
		return value, errors.New(jsvalue.Problem(reason))
	}
	return value, nil
}
