package dumptest

import (
	"fmt"
	"strings"
)

// Secretive returns a dump with a secret in every part that may hold private data, and the symbol
// file of its program. The secret is in the environment, the command line, annotations, comments,
// memory and names of open objects. It is also the user's name in paths of modules, of debug files
// and of sources. Some of those names have characters that are markup somewhere.
func Secretive(secret string) (dump, symbols []byte) {
	home, mac := "/"+"home/", "/"+"Users/"
	pdb := `C:\Users\` + secret + `\out\app.pdb`
	stack := make([]byte, 256)
	copy(stack[128:], secret)
	copy(stack[8:], "\x20\x00\x40\x00\x00\x00\x00\x00")
	copy(stack[16:], "\x30\x00\x41\x00\x00\x00\x00\x00")
	context := AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	dump = New(LittleEndian).
		System(System{Processor: CPUAMD64, Platform: OSLinux}).
		Module(0x400000, 0x1000, home+secret+"/bin/app", RSDS(1, 2, 3, [8]byte{4}, 1, pdb)).
		Module(0x410000, 0x1000, mac+"x_"+secret+"/lib/libfoo.dylib", RSDS(1, 2, 3, [8]byte{5}, 1, mac+"x_"+secret+"/lib/libfoo.dylib")).
		Thread(7, context, 0x7000, stack).
		Exception(7, 11, 1, 0x400020, context).
		Stream(0x47670006, []byte("app\x00--password="+secret+"\x00")).
		Stream(0x47670007, []byte("HOME="+home+secret+"\x00TOKEN="+secret+"\x00")).
		Stream(0x47670009, []byte("00400000-00401000 r-xp 00000000 08:01 1 "+home+secret+"/bin/app\n")).
		Stream(0x12345678, []byte(secret)).
		Handles(true, Handle{Handle: 4, Type: "File", Name: `\Device\` + secret + ".xlsx"}).
		Crashpad([16]byte{1}, [16]byte{2}, 0, [][2]string{{"switch-1", "--token=" + secret}, {"exceptionReason", "wrong password " + secret}},
			CrashpadModule{Index: 0, List: []string{secret}, Simple: [][2]string{{"url", "https://example.com/" + secret}},
				Objects: []CrashpadObject{{Name: "note", Type: 1, Value: []byte(secret)}}}).
		MacCrashInfo(5, [3]uint64{1, 0, 0}, "/usr/lib/libfoo.dylib", secret, secret, secret, secret).
		MacBootArgs(false, "debug="+secret).
		CommentA("user "+secret).CommentW("mail to "+secret).
		Memory(0x9000, []byte(home+secret+"/bin/app\x00")).
		Auxv(8, [2]uint64{31, 0x9000}).
		Bytes()

	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 00000001000200030400000000000000" + "1 app.pdb\n")
	users := []string{secret, "x_" + secret, "x{" + secret + "}", "x&" + secret, "x`" + secret, "x " + secret, "é-" + secret}
	for i, user := range users {
		fmt.Fprintf(&b, "FILE %d %s%s/src/%d.cc\n", i, home, user, i)
	}
	fmt.Fprintf(&b, "FILE %d C:\\Users\\x_%s\\src\\w.cc\nINLINE_ORIGIN 0 inlined\n", len(users), secret)
	b.WriteString("FUNC 0 20 0 main\n")
	for i := range users {
		fmt.Fprintf(&b, "INLINE %d %d %d 0 10 8\n", i, i+1, (i+1)%len(users))
	}
	fmt.Fprintf(&b, "0 20 7 %d\n", len(users))
	return dump, []byte(b.String())
}
