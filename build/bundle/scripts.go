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

// helperOpening is the beginning of Vugu's helper. Vugu evaluates the helper with eval, which the
// content security policy forbids. The loader recognizes that call by this text and ignores it,
// because the bundle contains the helper. If a new version of Vugu changed the text, the loader
// would not recognize the call, so the bundle fails.
const helperOpening = "(function(){if(window.vuguRender)"

// helperSum is the SHA-256 of Vugu's helper. The bundle patches the helper's minified code, the
// only form in which Vugu contains it. A developer has to read another helper before the patches
// may be applied to it, even if all of them match.
const helperSum = "522085e7ca94752984d46fbfc4f86596f2a3e5eafd8c4f81d936d3fb8a7fdf98"

// vuguHelper returns the helper script from a constant in Vugu's Go source. The .js file in the
// same folder is not the same: it logs every instruction. It is an error if the script's SHA-256 is
// not wantSum, in hexadecimal digits.
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

// quicker are patches of Vugu's helper that make rendering faster. Unpatched, the helper writes
// every element again at each render, also if nothing changed: innerHTML starts a parser for each
// element, and the writes make the browser compute the layout again. Comparing before writing
// halves the time of a render. Other patches avoid repeated reads: of texts through a decoder that
// takes a microsecond to start, of attributes as objects that the browser makes for each, and of a
// number for an element without listeners.
var quicker = []struct{ slow, quick string }{
	{`x.el.innerHTML=(x.bufferedInnerHTML||"")+e`, `crashpaneContent(x.el,(x.bufferedInnerHTML||"")+e)`},
	{`e.setAttribute(t,n),x.elAttrNames`, `e.getAttribute(t)===n||e.setAttribute(t,n),x.elAttrNames`},
	{`x.decode(new DataView(this.dataView.buffer,this.dataView.byteOffset+this.offset+4,e))`, `crashpaneText(this.dataView,this.offset+4,e,x)`},
	{`let e=[];for(let t=0;t<x.el.attributes.length;t++)x.elAttrNames[x.el.attributes[t].name]||e.push(x.el.attributes[t].name);` +
		`for(let t=0;t<e.length;t++)x.el.attributes.removeNamedItem(e[t]);`, `crashpaneOthers(x.el,x.elAttrNames);`},
	{`case u:{let t=C.readString()`, `case u:{if(crashpaneEmpty(x.eventHandlerMap)){C.offset+=C.dataView.getUint32(C.offset)+4;break}let t=C.readString()`},
	{`x.el.nodeName.toUpperCase()!=e.toUpperCase()){let t=document.createElement(e)`, `x.el.localName!==e&&x.el.nodeName.toUpperCase()!=e.toUpperCase()){let t=document.createElement(e)`},
}

// content gives an element its content. Text, as html.EscapeString leaves it, goes into the text
// node that is there.
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

// Removes the attributes of an element that are not among the names; it has all of those.
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

// pageScript returns crashpane.js: Go's wasm_exec.js, Vugu's helper, and the loader.
//
// The helper becomes a function whose parameters are the window and the document that it uses, so
// that a viewer in a shadow root can pass substitutes. It stays in sloppy mode, as eval would run
// it. Each other part is in a function of its own, in which the "use strict" at its beginning
// applies and its names are local.
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

// workerScript returns crashpane-worker.js: wasm_exec.js and the engine's worker, without Vugu,
// because a worker has no document.
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

// withoutRemarks removes the lines of a script that are only a comment, so that browsers need not
// fetch them. It keeps lines inside a template literal of several lines.
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
