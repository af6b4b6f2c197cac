package core

// Sentry's own writer of minidumps (sentry-native, since 0.13).

// sentryCode is what sentry-native 0.13.2 adds to the number of a signal, on Linux and macOS
// (sentry_minidump_linux.c and sentry_minidump_macos.c, write_exception_stream).
const sentryCode = 0x40000000

// SignalOf returns the number of the signal in an exception of Sentry's writer, where that is not
// what the exception's code means: 0.13.2 adds sentryCode, and up to 0.14.2 the number is in the place
// of a Mach exception on macOS. What tells these dumps from Crashpad's and Breakpad's is that the
// exception has neither flags nor parameters, and the shortest MiscInfo stream only the process id.
func (d *Dump) SignalOf(e *Exception) (number uint32, ok bool) {
	if e.Flags != 0 || len(e.Params) > 0 || e.Code == 0 || d.SizesAreLeast() {
		return 0, false
	}
	const signals = 65 // and more than any system has
	switch os := d.OS(); {
	case os != OSLinux && os != Android && os != MacOS && os != IOS:
		return 0, false
	case e.Code&sentryCode != 0:
		number = e.Code &^ sentryCode
		return number, number > 0 && number < signals
	case (os == MacOS || os == IOS) && d.Misc != nil && d.Misc.Size == misc1Size && d.Misc.Flags == miscProcessID:
		return e.Code, e.Code < signals
	}
	return 0, false
}

// listsCode: the entries of the module list are mappings of code, where others list programs, and
// nothing says where in its file a mapping begins. sentry-native 0.13.2 writes such dumps.
func (d *Dump) listsCode() bool {
	if d.Exception == nil || !d.mayListParts() {
		return false
	}
	_, ok := d.SignalOf(d.Exception)
	return ok
}
