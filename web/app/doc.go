// Package app is the page: Vugu components over one Page value. It holds no parser and reaches nothing of the browser:
// document, window, focus, storage and clipboard are behind Host, the engine in its worker is behind Engine. So it builds
// and is tested natively, and several pages may live in one window.
//
// What a person does arrives as an action (Act), a key (Key) or typed text (Input); what the engine answers arrives as a
// Reply. Each changes the Page, asks the engine for what is now to be seen, and the components show it.
package app
