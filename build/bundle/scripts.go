package main

import (
	"bytes"
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

// vuguHelper takes the script that Vugu would evaluate out of Vugu's own source. The Go constant and not the .js
// file beside it is read: the constant is what is evaluated; the file still holds lines that log every
// instruction.
func vuguHelper(goFile string) (string, error) {
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
// halves the time of a render.
var quicker = []struct{ slow, quick string }{
	{`x.el.innerHTML=(x.bufferedInnerHTML||"")+e`, `crashpaneContent(x.el,(x.bufferedInnerHTML||"")+e)`},
	{`e.setAttribute(t,n),x.elAttrNames`, `e.getAttribute(t)===n||e.setAttribute(t,n),x.elAttrNames`},
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
	b.WriteString(content)
	b.WriteString(helper)
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
	b.Write(script)
	b.WriteString("\n})();\n")
}
