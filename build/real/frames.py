# Run by gdb that is attached to a process: writes every thread's physical frames as JSON to the file that CRASHPANE_FRAMES names.
import gdb
import json
import os

LIMIT = 100000  # frames of a thread


def walk(thread):
    thread.switch()
    frames, reason = [], ""
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(frames) < LIMIT:
            kind = frame.type()
            # Inlined and tail-called functions share the registers of the frame that they are part of.
            if kind not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                sp = frame.read_register("sp")
                sp = int(sp) & (1 << 8 * sp.type.sizeof) - 1
                frames.append({"pc": frame.pc(), "sp": sp, "name": frame.name() or "", "signal": kind == gdb.SIGTRAMP_FRAME})
            reason = gdb.frame_stop_reason_string(frame.unwind_stop_reason()) if frame.older() is None else ""
            frame = frame.older()
    except gdb.error as e:
        reason = "error: " + str(e)
    return {"frames": frames, "reason": reason}


threads = {}
for t in gdb.selected_inferior().threads():
    threads[str(t.ptid[1])] = walk(t)
with open(os.environ["CRASHPANE_FRAMES"], "w") as out:
    json.dump(threads, out)
