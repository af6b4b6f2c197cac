//! Starts a program, waits until it reports a crash (src/report.h), writes its minidump and ends it.
//!
//!     dumpchild OUT.dmp PROGRAM [ARGUMENT...]

use crash_context::CrashContext;
use minidump_writer::{minidump_writer::MinidumpWriterConfig, CrashContextExt};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The layout of CrashRecord in src/report.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct CrashRecord {
    tid: i32,
    signal: i32,
    code: i32,
    reserved: i32,
    address: u64,
    gregs: [i64; 23],
    fpregs: [u8; 512],
}

/// The writer asks uname for the system's version string. Answering for it here keeps the version of the
/// machine that made the sample out of the dump.
#[no_mangle]
pub unsafe extern "C" fn uname(out: *mut libc::utsname) -> i32 {
    fn put(field: &mut [libc::c_char], text: &str) {
        for (to, from) in field.iter_mut().zip(text.bytes()) {
            *to = from as libc::c_char;
        }
    }
    std::ptr::write_bytes(out, 0, 1);
    put(&mut (*out).sysname, "Linux");
    put(&mut (*out).nodename, "sample");
    put(&mut (*out).release, "6.1.0-18-amd64");
    put(&mut (*out).version, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
    put(&mut (*out).machine, "x86_64");
    0
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0i32; 2];
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0, "pipe2");
    // Move both ends above the numbers that the child's copies get.
    let up = |fd| unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 10);
        libc::close(fd);
        OwnedFd::from_raw_fd(high)
    };
    (up(ends[0]), up(ends[1]))
}

fn crash_context(pid: i32, record: &CrashRecord) -> CrashContext {
    let mut context: CrashContext = unsafe { std::mem::zeroed() };
    context.pid = pid;
    context.tid = record.tid;
    context.siginfo.ssi_signo = record.signal as u32;
    context.siginfo.ssi_code = record.code;
    context.siginfo.ssi_addr = record.address;
    context.context.uc_mcontext.gregs = record.gregs;
    unsafe {
        std::ptr::copy_nonoverlapping(
            record.fpregs.as_ptr(),
            (&raw mut context.float_state).cast::<u8>(),
            record.fpregs.len(),
        );
    }
    context
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let (Some(out), Some(program)) = (args.next(), args.next()) else {
        eprintln!("usage: dumpchild OUT.dmp PROGRAM [ARGUMENT...]");
        std::process::exit(2);
    };

    let (report_in, report_out) = pipe();
    let (hold_in, _hold_out) = pipe();
    let (out_fd, in_fd) = (report_out.as_raw_fd(), hold_in.as_raw_fd());
    let mut command = Command::new(program);
    command.args(args);
    unsafe {
        command.pre_exec(move || {
            if libc::dup2(out_fd, 3) < 0 || libc::dup2(in_fd, 4) < 0 {
                return Err(std::io::Error::last_os_error());
            }
            // Nothing else that happens to be open here is the program's: the dump lists open files.
            if libc::syscall(libc::SYS_close_range, 5u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let mut child = command.spawn().expect("cannot start the program");
    drop((report_out, hold_in));

    let mut bytes = [0u8; std::mem::size_of::<CrashRecord>()];
    let mut reader = std::fs::File::from(report_in);
    reader.read_exact(&mut bytes).expect("the program ended without a crash");
    let record: CrashRecord = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };

    let pid = child.id() as i32;
    let mut file = std::fs::File::create(&out).expect("cannot create the dump");
    let mut config = MinidumpWriterConfig::new(pid, record.tid);
    config.set_crash_context(CrashContextExt { inner: crash_context(pid, &record) });
    let written = config.write(&mut file);
    child.kill().expect("cannot end the program");
    let _ = child.wait();
    written.expect("cannot write the dump");
}
