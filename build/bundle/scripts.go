package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// helperOpening is how Vugu's helper begins. The loader lets Vugu's one call of eval do nothing when it asks for
// this text, because the content security policy forbids eval and the bundle has the helper already; if a new
// Vugu changed it, the loader would no longer know the call, so the bundle stops here.
const helperOpening = "(function(){if(window.vuguRender)"

// helperSum is the SHA-256 of Vugu's helper. The helper is patched in minified form, the only form in which Vugu evaluates it, so another
// helper has to be read before it is used, even one in which all places to patch are found.
const helperSum = "522085e7ca94752984d46fbfc4f86596f2a3e5eafd8c4f81d936d3fb8a7fdf98"

// vuguHelper takes the script that Vugu would evaluate out of Vugu's own source. The Go constant and not the .js
// file beside it is read: the constant is what is evaluated; the file still holds lines that log every
// instruction. An error says so if its SHA-256 is not wantSum, in hexadecimal digits.
func vuguHelper(goFile, wantSum string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), goFile, nil, 0)
	if err != nil {
		return "", err
	}
	var script string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || spec.Names[0].Name != "jsHelperScript" || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			script, _ = strconv.Unquote(literal.Value)
		}
		return false
	})
	if !strings.HasPrefix(script, helperOpening) {
		return "", fmt.Errorf("%s: jsHelperScript is not the script that the loader expects", goFile)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(script))); sum != wantSum {
		return "", fmt.Errorf("%s: jsHelperScript has SHA-256 %s, not %s: read what changed, then set helperSum in build/bundle/scripts.go", goFile, sum, wantSum)
	}
	for _, r := range quicker {
		if strings.Count(script, r.slow) != 1 {
			return "", fmt.Errorf("%s: jsHelperScript does not do %q once", goFile, r.slow)
		}
		script = strings.Replace(script, r.slow, r.quick, 1)
	}
	return script, nil
}

// quicker are the places where Vugu's helper writes to the document what stands there already: it draws every element
// anew at each render. Setting innerHTML starts a parser for each, and both make the browser lay out again; comparing first
// halves the time of a render. And places where it reads what it has read at every element before: texts by a decoder that takes a
// microsecond to start, attributes as objects that the browser makes for each, and a number for an element that has no listeners.
var quicker = []struct{ slow, quick string }{
	{`x.el.innerHTML=(x.bufferedInnerHTML||"")+e`, `crashpaneContent(x.el,(x.bufferedInnerHTML||"")+e)`},
	{`e.setAttribute(t,n),x.elAttrNames`, `e.getAttribute(t)===n||e.setAttribute(t,n),x.elAttrNames`},
	{`x.decode(new DataView(this.dataView.buffer,this.dataView.byteOffset+this.offset+4,e))`, `crashpaneText(this.dataView,this.offset+4,e,x)`},
	{`let e=[];for(let t=0;t<x.el.attributes.length;t++)x.elAttrNames[x.el.attributes[t].name]||e.push(x.el.attributes[t].name);` +
		`for(let t=0;t<e.length;t++)x.el.attributes.removeNamedItem(e[t]);`, `crashpaneOthers(x.el,x.elAttrNames);`},
	{`case u:{let t=C.readString()`, `case u:{if(crashpaneEmpty(x.eventHandlerMap)){C.offset+=C.dataView.getUint32(C.offset)+4;break}let t=C.readString()`},
	{`x.el.nodeName.toUpperCase()!=e.toUpperCase()){let t=document.createElement(e)`, `x.el.localName!==e&&x.el.nodeName.toUpperCase()!=e.toUpperCase()){let t=document.createElement(e)`},
}

// content gives an element its content. Text, as html.EscapeString leaves it, goes into the text node that is there.
const content = `const crashpaneSigns = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#34;": '"', "&#39;": "'" };
function crashpaneContent(element, html) {
  if (/<|&(?!(?:lt|gt|amp|#34|#39);)/.test(html)) {
    element.innerHTML = html;
    return;
  }
  const text = html.includes("&") ? html.replace(/&(?:lt|gt|amp|#34|#39);/g, (sign) => crashpaneSigns[sign]) : html;
  const only = element.firstChild;
  if (only?.nodeType !== 3 || only.nextSibling) element.textContent = text;
  else if (only.data !== text) only.data = text;
}

// A text of the instructions. Those of up to six bytes are known by a number, which no two of them share.
const crashpaneWords = new Map();
function crashpaneText(view, at, n, decoder) {
  const decode = () => decoder.decode(new DataView(view.buffer, view.byteOffset + at, n));
  if (n > 24) return decode();
  if (n > 6) {
    let text = "";
    for (let i = 0; i < n; i++) {
      const c = view.getUint8(at + i);
      if (c > 0x7f) return decode();
      text += String.fromCharCode(c);
    }
    return text;
  }
  let key = n;
  for (let i = 0; i < n; i++) key = key * 256 + view.getUint8(at + i);
  let text = crashpaneWords.get(key);
  if (text === undefined) {
    text = decode();
    if (crashpaneWords.size < 2000) crashpaneWords.set(key, text);
  }
  return text;
}

// Removes the attributes of an element that are not among the names, all of which it has.
function crashpaneOthers(element, names) {
  let n = 0;
  for (const name in names) n++;
  if (element.attributes.length === n) return;
  for (const name of element.getAttributeNames()) if (!names[name]) element.removeAttribute(name);
}

function crashpaneEmpty(object) {
  for (const key in object) return false;
  return true;
}
`

// pageScript is crashpane.js: Go's runtime glue, Vugu's helper, our loader.
//
// The helper becomes a function of the window and the document that it shall use, so that a viewer in a shadow
// root can give it stand-ins. It is left in sloppy mode, as eval would run it. The other parts stand in functions of
// their own: there the "use strict" at their beginning counts, and their names stay theirs.
func pageScript(wasmExec []byte, helper string, loader []byte) []byte {
	var b bytes.Buffer
	b.WriteString("// Go's wasm_exec.js and Vugu's DOM helper, with their licenses in licenses.txt; then the loader of Crashpane.\n")
	enclose(&b, wasmExec)
	b.WriteString("globalThis.crashpaneVuguHelper = function (window, document) {\n")
	b.WriteString(withoutRemarks(content + helper))
	b.WriteString("\n};\n")
	enclose(&b, loader)
	return b.Bytes()
}

// workerScript is crashpane-worker.js: the same glue without Vugu, which has no document there.
func workerScript(wasmExec, worker []byte) []byte {
	var b bytes.Buffer
	b.WriteString("// Go's wasm_exec.js, with its license in licenses.txt; then the engine's worker of Crashpane.\n")
	enclose(&b, wasmExec)
	enclose(&b, worker)
	return b.Bytes()
}

func enclose(b *bytes.Buffer, script []byte) {
	b.WriteString("(() => {\n")
	b.WriteString(withoutRemarks(string(script)))
	b.WriteString("\n})();\n")
}

// withoutRemarks leaves out the lines of a script that are remarks and nothing else: whoever opens the page need not fetch them. What looks
// like one inside of a text of several lines stays.
func withoutRemarks(script string) string {
	var b strings.Builder
	text := false // the line begins within a text
	for line := range strings.Lines(script) {
		if !text && strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		if strings.Count(line, "`")%2 == 1 {
			text = !text
		}
		b.WriteString(line)
	}
	return b.String()
}
