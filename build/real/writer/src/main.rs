//! Writes the minidump of a running process:
//!
//!     writer PID OUT.dmp [ADDRESS SIZE]...
//!
//! with the memory at each address besides that of the threads' stacks. The process goes on when the dump is written, also if it was stopped
//! before.

use minidump_writer::app_memory::AppMemory;
use minidump_writer::minidump_writer::MinidumpWriterConfig;
use std::error::Error;

fn number(text: &str) -> Result<usize, Box<dyn Error>> {
    Ok(usize::from_str_radix(text.trim_start_matches("0x"), 16)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [pid, out, memory @ ..] = args.as_slice() else {
        return Err("usage: writer PID OUT.dmp [ADDRESS SIZE]...".into());
    };
    let pid = pid.parse()?;
    let mut ranges = Vec::new();
    for pair in memory.chunks_exact(2) {
        ranges.push(AppMemory { ptr: number(&pair[0])?, length: number(&pair[1])? });
    }
    let mut config = MinidumpWriterConfig::new(pid, pid);
    config.set_app_memory(ranges);
    config.write(&mut std::fs::File::create(out)?)?;
    Ok(())
}
