package main

import (
	"fmt"
	"strings"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/app"
)

// maxFiles bounds one drop: a whole home directory dropped by mistake should end.
const maxFiles = 50_000

// listenForFiles hears drops, the two file choosers and pastes.
func (h *host) listenForFiles() {
	target := h.viewer.Get("dropTarget")
	hasFiles := func(e js.Value) bool {
		// Where no file may be added, they are not the viewer's to take.
		return h.page.TakesFiles() && e.Get("dataTransfer").Get("types").Call("includes", "Files").Bool()
	}
	drag := func(on bool) {
		if h.page.Dragging != on {
			h.change(func(p *app.Page) { p.Drag(on) })
		}
	}
	over := func(e js.Value) {
		if hasFiles(e) {
			event(e).PreventDefault()
			e.Get("dataTransfer").Set("dropEffect", "copy")
			drag(true)
		}
	}
	h.native(target, "dragenter", over, false)
	h.native(target, "dragover", over, false)
	h.native(target, "dragleave", func(e js.Value) {
		// Leaving one element for another inside is told too; leaving the window has nowhere to go.
		if e.Get("relatedTarget").IsNull() {
			drag(false)
		}
	}, false)
	h.native(target, "drop", func(e js.Value) {
		if !hasFiles(e) {
			return
		}
		event(e).PreventDefault()
		h.take(&dom.DataTransfer{Value: e.Get("dataTransfer")})
		drag(false)
	}, false)
	// Files are pasted wherever the focus is; text goes into the field that has it.
	h.native(target, "paste", func(e js.Value) {
		if data := e.Get("clipboardData"); data.Truthy() && h.page.TakesFiles() && data.Get("files").Length() > 0 {
			event(e).PreventDefault()
			h.take(&dom.DataTransfer{Value: data})
		}
	}, false)
	for _, name := range []string{"filesInput", "folderInput"} {
		input := &dom.HTMLInputElement{BasicHTMLElement: &dom.BasicHTMLElement{BasicElement: element(h.viewer.Get(name))}}
		h.native(input.Underlying(), "change", func(js.Value) {
			files := []app.File{}
			for _, f := range input.Files() {
				files = append(files, newFile(f.Value, f.Get("webkitRelativePath").String()))
			}
			// The same file may be picked again after it was changed.
			input.SetValue("")
			h.change(func(p *app.Page) { p.Offer(files) })
		}, false)
	}
}

// take collects what was dropped. The entries must be taken while the event is handled: afterwards the list is empty. A
// folder's File is a sham of 4096 bytes, so folders are known by their entries.
func (h *host) take(data *dom.DataTransfer) {
	files := []app.File{}
	folders := []js.Value{}
	items := data.Get("items")
	for i := 0; i < items.Length(); i++ {
		item := items.Index(i)
		if item.Get("kind").String() != "file" {
			continue
		}
		if item.Get("webkitGetAsEntry").Type() == js.TypeFunction {
			if entry := item.Call("webkitGetAsEntry"); entry.Truthy() && entry.Get("isDirectory").Bool() {
				folders = append(folders, entry)
				continue
			}
		}
		if f := item.Call("getAsFile"); f.Truthy() {
			files = append(files, newFile(f, ""))
		}
	}
	if len(folders) == 0 {
		h.change(func(p *app.Page) { p.Offer(files) })
		return
	}
	go h.takeFolders(files, folders)
}

// takeFolders reads folders recursively and adds everything at once, so that the whole drop is one piece of work.
func (h *host) takeFolders(files []app.File, folders []js.Value) {
	problems := []string{}
	for len(folders) > 0 && len(files) < maxFiles {
		reader := folders[0].Call("createReader")
		path := folders[0].Get("fullPath").String()
		folders = folders[1:]
		for {
			// A call answers a hundred entries at most; an empty answer is the end.
			entries, problem := await(reader, "readEntries")
			if problem != "" {
				problems = append(problems, fmt.Sprintf("The folder %s cannot be read: %s", view.Clean(path), problem))
				break
			}
			if entries.Length() == 0 {
				break
			}
			for i := 0; i < entries.Length(); i++ {
				entry := entries.Index(i)
				if entry.Get("isDirectory").Bool() {
					folders = append(folders, entry)
					continue
				}
				name := strings.TrimPrefix(entry.Get("fullPath").String(), "/")
				f, problem := await(entry, "file")
				if problem != "" {
					problems = append(problems, fmt.Sprintf("%s cannot be read: %s", view.Clean(name), problem))
					continue
				}
				files = append(files, newFile(f, name))
			}
		}
	}
	if len(files) >= maxFiles {
		problems = append(problems, fmt.Sprintf("Only the first %s files of the folders are read.", view.Number(maxFiles)))
	}
	h.change(func(p *app.Page) {
		for _, text := range problems {
			p.Problem(text)
		}
		p.Offer(files)
	})
}

// await calls a method of the old file system interface, which answers by one of two callbacks.
func await(object js.Value, method string) (value js.Value, problem string) {
	done := make(chan struct{})
	yes := js.FuncOf(func(_ js.Value, args []js.Value) any { value = args[0]; close(done); return nil })
	no := js.FuncOf(func(_ js.Value, args []js.Value) any {
		problem = args[0].Get("message").String()
		if problem == "" {
			problem = args[0].Get("name").String()
		}
		close(done)
		return nil
	})
	defer yes.Release()
	defer no.Release()
	object.Call(method, yes, no)
	<-done
	return value, problem
}

// settle waits for a promise.
func settle(promise js.Value) (value js.Value, problem string) {
	done := make(chan struct{})
	yes := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) > 0 {
			value = args[0]
		}
		close(done)
		return nil
	})
	no := js.FuncOf(func(_ js.Value, args []js.Value) any {
		problem = args[0].Get("message").String()
		close(done)
		return nil
	})
	defer yes.Release()
	defer no.Release()
	promise.Call("then", yes, no)
	<-done
	return value, problem
}

// OpenSample implements app.Host: the loader knows where the sample lies.
func (h *host) OpenSample() {
	go func() {
		problem := "this page has none"
		var got js.Value
		if sample := h.viewer.Get("sample"); sample.Type() == js.TypeFunction {
			got, problem = settle(sample.Invoke())
		}
		h.change(func(p *app.Page) {
			if problem != "" {
				p.Problem("The sample could not be opened: " + problem)
				return
			}
			p.Add(filesOf(got))
		})
	}()
}

// filesOf are the Files of an array.
func filesOf(array js.Value) []app.File {
	files := make([]app.File, array.Length())
	for i := range files {
		files[i] = newFile(array.Index(i), "")
	}
	return files
}
