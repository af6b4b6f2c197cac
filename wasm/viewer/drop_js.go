package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/wasm/jsvalue"
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/host"
)

// maxFiles bounds one drop, since a user may drop a whole home directory by mistake.
const maxFiles = 50_000

// listenForFiles adds the listeners for drops, the two file choosers and pastes.
func (h *browser) listenForFiles() {
	target := h.viewer.Get("dropTarget")
	hasFiles := func(e js.Value) bool {
		// If the user may not add files, the host page may handle the drop itself.
		return h.page.HostPage.TakesFiles() && e.Get("dataTransfer").Get("types").Call("includes", "Files").Bool()
	}
	drag := func(on bool) {
		if h.page.Layout.Dragging != on {
			h.change(func(p *app.Page) { p.Layout.Dragging = on })
		}
	}
	overs := 0
	over := func(e js.Value) {
		if hasFiles(e) {
			overs++
			event(e).PreventDefault()
			e.Get("dataTransfer").Set("dropEffect", "copy")
			drag(true)
		}
	}
	h.native(target, "dragenter", over, false)
	h.native(target, "dragover", over, false)
	h.native(target, "dragleave", func(e js.Value) {
		// The event also occurs when the pointer moves from one element to another, which is then
		// relatedTarget. Safari always leaves relatedTarget null. So the drag has left the window
		// only if no dragover follows; the browser repeats that while files are over the page.
		if !e.Get("relatedTarget").IsNull() {
			return
		}
		before := overs
		h.later(100, func() {
			if overs == before {
				drag(false)
			}
		})
	}, false)
	h.native(target, "drop", func(e js.Value) {
		if !hasFiles(e) {
			return
		}
		event(e).PreventDefault()
		h.changeIf(func(p *app.Page) bool { p.Layout.Dragging = false; return false })
		h.drawSoon()
		h.take(&dom.DataTransfer{Value: e.Get("dataTransfer")}, h.offer)
	}, false)
	// The user can paste files wherever the focus is. Pasted text goes to the focused field, as
	// usual.
	h.native(target, "paste", func(e js.Value) {
		if data := e.Get("clipboardData"); data.Truthy() && h.page.HostPage.TakesFiles() && data.Get("files").Length() > 0 {
			event(e).PreventDefault()
			h.take(&dom.DataTransfer{Value: data}, h.offer)
		}
	}, false)
	h.listenForChoosers()
}

// listenForChoosers adds the listeners for the two file choosers.
func (h *browser) listenForChoosers() {
	for _, name := range []string{"filesInput", "folderInput"} {
		input := &dom.HTMLInputElement{BasicHTMLElement: &dom.BasicHTMLElement{BasicElement: element(h.viewer.Get(name))}}
		h.native(input.Underlying(), "change", func(js.Value) {
			files := []host.File{}
			for _, f := range input.Files() {
				files = append(files, newFile(f.Value, f.Get("webkitRelativePath").String()))
			}
			// Otherwise choosing the same file again would cause no event.
			input.SetValue("")
			h.offer(files, nil)
		}, false)
	}
}

// manyFiles is the number of files from which the page's heap has no limit.
const manyFiles = 1000

// manyItems is the number of dropped items from which take does not ask each of them whether it is
// a folder. In Chromium each answer waits for another process, a third of a millisecond at best,
// and all of them together would be one long task.
const manyItems = 24

// ambiguousNames returns the names that two items have. The list of their common root cannot tell which of the two
// is a folder, so each of them is asked.
func ambiguousNames(files []*jsFile) map[string]bool {
	named, ambiguous := map[string]int{}, map[string]bool{}
	for _, f := range files {
		named[f.name]++
	}
	for name, n := range named {
		if n > 1 {
			ambiguous[name] = true
		}
		if other := unnumbered(name); named[other] > 0 {
			ambiguous[name], ambiguous[other] = true, true
		}
	}
	return ambiguous
}

// take collects the files of a drop or a paste, and calls offer with them and with problems. It
// must get the items' files and entries while the event is handled, because the list is empty
// afterwards. A folder also has a File, of 4096 bytes, so only its entry tells that it is a folder.
func (h *browser) take(data *dom.DataTransfer, offer func(files []host.File, problems []string)) {
	items := []js.Value{}
	files := []*jsFile{}
	list := data.Get("items")
	for i, n := 0, list.Length(); i < n; i++ {
		item := list.Index(i)
		if item.Get("kind").String() != "file" {
			continue
		}
		if f := item.Call("getAsFile"); f.Truthy() {
			items, files = append(items, item), append(files, newFile(f, ""))
		}
	}
	entry := func(i int) js.Value {
		if items[i].Get("webkitGetAsEntry").Type() != js.TypeFunction {
			return js.Null()
		}
		return items[i].Call("webkitGetAsEntry")
	}
	// In Chromium a page opened from a file: address cannot list the entries of folders, but it can
	// list their handles.
	local := h.window.Get("location").Get("protocol").String() == "file:"
	root := js.Null()
	if len(items) >= manyItems && !local {
		root = commonRoot(entry(0), entry(1))
	}
	ambiguous := ambiguousNames(files)
	plain, folders := []host.File{}, []js.Value{}
	for i, f := range files {
		if root.IsNull() || ambiguous[f.name] {
			if e := entry(i); e.Truthy() && e.Get("isDirectory").Bool() {
				if local && items[i].Get("getAsFileSystemHandle").Type() == js.TypeFunction {
					e = items[i].Call("getAsFileSystemHandle")
				}
				folders = append(folders, e)
				continue
			}
		}
		plain = append(plain, f)
	}
	if root.IsNull() && len(folders) == 0 {
		offer(plain, nil)
		return
	}
	go func() {
		if !root.IsNull() {
			plain, folders = separateFolders(root, plain, folders, ambiguous)
		}
		l := &listing{h: h, shownAt: time.Now()}
		plain, problems := l.folders(plain, folders)
		if l.finish() {
			offer(plain, problems)
		}
	}()
}

// commonRoot returns the folder that has two entries of a drop, or null. Chromium makes such a
// folder for all items of a drop, and lists it asynchronously, so the page's thread need not wait.
// In other browsers each item has a file system of its own.
func commonRoot(a, b js.Value) js.Value {
	if !a.Truthy() || !b.Truthy() {
		return js.Null()
	}
	one, other := a.Get("filesystem"), b.Get("filesystem")
	if !one.Truthy() || !other.Truthy() || one.Get("name").String() == "" || one.Get("name").String() != other.Get("name").String() {
		return js.Null()
	}
	if root := one.Get("root"); root.Truthy() {
		return root
	}
	return js.Null()
}

// unnumbered returns a name without the number that Chromium adds to a second item of the same
// name: "a.sym" for "a (1).sym". It returns "" if there is no number.
func unnumbered(name string) string {
	from := strings.LastIndex(name, " (")
	if from < 0 {
		return ""
	}
	n := strings.IndexByte(name[from:], ')')
	if n < 0 || strings.Trim(name[from+2:from+n], "0123456789") != "" {
		return ""
	}
	return name[:from] + name[from+n+1:]
}

// separateFolders moves the files that are folders, according to the list of the common root, to
// folders. Items with names in asked were already asked.
func separateFolders(root js.Value, files []host.File, folders []js.Value, asked map[string]bool) ([]host.File, []js.Value) {
	found := map[string]js.Value{}
	reader := root.Call("createReader")
	for {
		entries, problem := await(reader, "readEntries")
		if problem != "" || entries.Length() == 0 {
			break // a folder that is not listed is read as a file, which will fail with a message
		}
		for i, n := 0, entries.Length(); i < n; i++ {
			if e := entries.Index(i); e.Get("isDirectory").Bool() {
				found[e.Get("name").String()] = e
			}
		}
	}
	plain := []host.File{}
	for _, f := range files {
		if e, ok := found[f.Name()]; ok && !asked[f.Name()] {
			folders = append(folders, e)
			continue
		}
		plain = append(plain, f)
	}
	return plain, folders
}

// offer passes files to the page when their sizes are known, because the page sorts by size.
// Getting a size waits for another process, so the work is divided into tasks of 15 ms.
func (h *browser) offer(files []host.File, problems []string) {
	left := files
	l := &listing{h: h, shownAt: time.Now()}
	var measure func()
	measure = func() {
		defer recoverPanic()
		begun := time.Now()
		for len(left) > 0 && l.found(len(files)) {
			left[0].Size()
			left = left[1:]
			if time.Since(begun) > 15*time.Millisecond && len(left) > 0 {
				h.later(0, measure)
				return
			}
		}
		if !l.finish() {
			return
		}
		h.changeIf(func(p *app.Page) (draw bool) {
			p.Reading.Offer(files)
			for _, text := range problems { // after Offer, which removes earlier notices
				p.Notices.Problem(text)
			}
			if len(problems) > 0 {
				p.Notices.ProposeFolder()
			}
			return false
		})
		h.drawSoon()
	}
	measure()
}

// drawSoon draws the page in 80 ms, unless something else draws it before. Mostly the first screen
// arrives by then, and drawing the bar of work would only delay it.
func (h *browser) drawSoon() {
	before := h.draws
	h.later(80, func() {
		if h.draws == before {
			h.change(func(*app.Page) {})
		}
	})
}

// listing is the work of listing dropped folders, which can take seconds.
type listing struct {
	h              *browser
	shownAt        time.Time
	shown, stopped bool
}

// found shows the number of files so far, a few times a second, and reports whether to continue.
func (l *listing) found(n int) bool {
	if n > manyFiles {
		collectInProportion()
	}
	if time.Since(l.shownAt) > 250*time.Millisecond && !l.stopped {
		l.shown, l.shownAt = true, time.Now()
		l.h.change(func(p *app.Page) { p.Reading.Listing(n, func() { l.stopped = true }) })
	}
	return !l.stopped
}

// finish ends the listing, and reports whether the user has not cancelled it.
func (l *listing) finish() bool {
	if l.shown && !l.stopped {
		l.h.changeIf(func(p *app.Page) bool { p.Reading.Listing(0, nil); return false })
	}
	return !l.stopped
}

// folders lists folders recursively. It returns all files together, so that a drop is one job.
func (l *listing) folders(files []host.File, folders []js.Value) (all []host.File, problems []string) {
	for len(folders) > 0 && len(files) < maxFiles && !l.stopped {
		if folders[0].Get("createReader").IsUndefined() {
			files, problems = l.handle(folders[0], "", files, problems)
			folders = folders[1:]
			continue
		}
		reader := folders[0].Call("createReader")
		path := folders[0].Get("fullPath").String()
		folders = folders[1:]
		for {
			// A call returns some of the entries; an empty list is the end.
			entries, problem := await(reader, "readEntries")
			if !l.found(len(files)) {
				break
			}
			if problem != "" {
				problems = append(problems, fmt.Sprintf("The folder %s cannot be read: %s", rows.Clean(path), problem))
				break
			}
			if entries.Length() == 0 {
				break
			}
			var plain []js.Value
			for i := range entries.Length() {
				if entry := entries.Index(i); entry.Get("isDirectory").Bool() {
					folders = append(folders, entry)
				} else {
					plain = append(plain, entry)
				}
			}
			// Each File takes a round trip to another process, so several are asked for at once.
			for some := range slices.Chunk(plain, 32) {
				if !l.found(len(files)) {
					break
				}
				for i, f := range awaitAll(some, "file") {
					name := strings.TrimPrefix(some[i].Get("fullPath").String(), "/")
					if f.problem != "" {
						problems = append(problems, fmt.Sprintf("%s cannot be read: %s", rows.Clean(name), f.problem))
						continue
					}
					files = append(files, newFile(f.value, name))
				}
			}
		}
	}
	if len(files) >= maxFiles {
		problems = append(problems, fmt.Sprintf("Crashpane reads only the first %s files of the folders.", rows.Number(maxFiles)))
	}
	return files, problems
}

// handle is folders for a FileSystemDirectoryHandle, or the promise of one. path is the path of its
// parent folder, with a slash at its end, or "".
func (l *listing) handle(folder js.Value, path string, files []host.File, problems []string) ([]host.File, []string) {
	failed := func(name, problem string) {
		problems = append(problems, fmt.Sprintf("The folder %s cannot be read: %s", rows.Clean(name), problem))
	}
	if folder.Get("then").Type() == js.TypeFunction {
		var problem string
		if folder, problem = settle(folder); problem != "" {
			failed("that you dropped", problem)
			return files, problems
		}
	}
	path += folder.Get("name").String() + "/"
	members := folder.Call("values")
	for l.found(len(files)) && len(files) < maxFiles {
		next, problem := settle(members.Call("next"))
		if problem != "" {
			failed(path, problem)
			break
		}
		if next.Get("done").Bool() {
			break
		}
		member := next.Get("value")
		if member.Get("kind").String() == "directory" {
			files, problems = l.handle(member, path, files, problems)
			continue
		}
		name := path + member.Get("name").String()
		f, problem := settle(member.Call("getFile"))
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s cannot be read: %s", rows.Clean(name), problem))
			continue
		}
		files = append(files, newFile(f, name))
	}
	return files, problems
}

// answer is what a method of the file system entries API gave, or the problem.
type answer struct {
	value   js.Value
	problem string
}

// awaitAll is await for several objects at once. With thousands the Go runtime would take seconds
// for its goroutines.
func awaitAll(objects []js.Value, method string) []answer {
	answers := make([]answer, len(objects))
	var all sync.WaitGroup
	for i, object := range objects {
		all.Go(func() { answers[i].value, answers[i].problem = await(object, method) })
	}
	all.Wait()
	return answers
}

// await calls a method of the file system entries API, which has two callbacks in place of a
// promise.
func await(object js.Value, method string) (value js.Value, problem string) {
	return orProblem(jsvalue.Called(func(yes, no js.Func) { object.Call(method, yes, no) }))
}

// settle waits for a promise.
func settle(promise js.Value) (value js.Value, problem string) {
	return orProblem(jsvalue.Await(promise))
}

// orProblem makes a text of the reason why there is no value.
func orProblem(value, reason js.Value) (js.Value, string) {
	if reason.Truthy() {
		return value, jsvalue.Problem(reason)
	}
	return value, ""
}

// OpenSample implements host.Host. The loader knows where the sample is.
func (h *browser) OpenSample() {
	go func() {
		problem := "this page has none"
		var got js.Value
		if sample := h.viewer.Get("sample"); sample.Type() == js.TypeFunction {
			got, problem = settle(sample.Invoke())
		}
		h.change(func(p *app.Page) {
			if problem != "" {
				p.Notices.Problem("The sample could not be opened: " + problem)
				return
			}
			p.Reading.Add(filesOf(got))
		})
	}()
}

// filesOf returns the Files of a JavaScript array.
func filesOf(array js.Value) []host.File {
	files := make([]host.File, array.Length())
	for i := range files {
		files[i] = newFile(array.Index(i), "")
	}
	return files
}
