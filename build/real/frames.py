# Run by gdb that is attached to a process: writes every thread's physical frames as JSON to the file that CRASHPANE_FRAMES names.
#
# gdb has no rules for the code of JIT compilers and for binaries without call frame information. Some are known to keep the frame
# pointer in all of their functions: CRASHPANE_FRAME_POINTERS names them, with commas between: "made" for code in no file, the
# name of a file, or how function names begin. gdb then goes on from their callers by its own rules.
import gdb
import json
import os
from gdb.unwinder import Unwinder

LIMIT = 100000  # frames of a thread
KEEPERS = [k for k in os.environ.get("CRASHPANE_FRAME_POINTERS", "").split(",") if k]

gdb.execute("set language c")  # the program's own may have no such type
POINTER = gdb.lookup_type("unsigned long")


def mappings():
    """Executable mappings. A second one of the same part of a file, as V8 makes of its builtins, has no symbols and no rules: "made"."""
    seen = []
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as lines:
        for line in lines:
            fields = line.split(None, 5)
            if "x" not in fields[1]:
                continue
            start, end = (int(n, 16) for n in fields[0].split("-"))
            offset, path = int(fields[2], 16), fields[5].strip() if len(fields) > 5 else ""
            copy = any(p == path and o <= offset < o + size for p, o, size in seen)
            seen.append((path, offset, end - start))
            yield start, end, "" if copy else path


MAPPED = list(mappings())


def keeps_frame_pointer(pc):
    path = next((path for start, end, path in MAPPED if start <= pc < end), "")
    if not path.startswith("/") and path != "[vdso]":
        return "made" in KEEPERS
    if os.path.basename(path) in KEEPERS:
        return True
    symbol = gdb.execute("info symbol 0x%x" % pc, to_string=True)
    return any(symbol.startswith(k) for k in KEEPERS)


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class FramePointer(Unwinder):
    """Unwinds x86-64 code by its frame pointer: the caller's rbp is at [rbp], the return address at [rbp + 8]."""

    def __init__(self):
        super().__init__("crashpane")
        self.used = set()  # (pc, sp) of the frames whose callers it found

    def __call__(self, pending):
        pc, sp, rbp = (int(pending.read_register(r).cast(POINTER)) for r in ("rip", "rsp", "rbp"))
        if pc < 4096 or rbp < sp or not keeps_frame_pointer(pc - 1):
            return None
        try:
            words = gdb.selected_inferior().read_memory(rbp, 16).tobytes()
        except gdb.MemoryError:
            return None
        self.used.add((pc, sp))
        info = pending.create_unwind_info(FrameId(gdb.Value(rbp + 16).cast(POINTER), gdb.Value(pc).cast(POINTER)))
        for register, value in (("rip", words[8:]), ("rsp", (rbp + 16).to_bytes(8, "little")), ("rbp", words[:8])):
            kind = pending.read_register(register).type
            info.add_saved_register(register, gdb.Value(value, kind))
        return info


def walk(thread):
    thread.switch()
    frames, reason = [], ""
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(frames) < LIMIT:
            kind = frame.type()
            older = frame.older()
            # Inlined and tail-called functions share the registers of the frame that they are part of.
            if kind not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                sp = frame.read_register("sp")
                sp = int(sp) & (1 << 8 * sp.type.sizeof) - 1
                frames.append({"pc": frame.pc(), "sp": sp, "name": frame.name() or "", "signal": kind == gdb.SIGTRAMP_FRAME,
                               "fp": (frame.pc(), sp) in unwinder.used})
            if older is None:
                reason = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            frame = older
    except gdb.error as e:
        reason = "error: " + str(e)
    return {"frames": frames, "reason": reason}


unwinder = FramePointer()
if KEEPERS:
    gdb.unwinder.register_unwinder(None, unwinder)
threads = {}
for t in gdb.selected_inferior().threads():
    threads[str(t.ptid[1])] = walk(t)
with open(os.environ["CRASHPANE_FRAMES"], "w") as out:
    json.dump(threads, out)
