//! Prints the ids that minidump-writer gives ELF files, by their bytes:
//!
//!     ids FILE...
//!
//! A line is a file's name and its id in hexadecimal, or "-" if there is none.

use minidump_writer::module_reader::{read_build_id_from_module, ModuleMemoryReadError, ReadError, ReadModuleMemory};
use std::borrow::Cow;

struct File(Vec<u8>);

impl ReadModuleMemory for File {
    fn read<'a>(&'a self, offset: u64, length: u64) -> Result<Cow<'a, [u8]>, ModuleMemoryReadError> {
        let end = offset.saturating_add(length).try_into().unwrap_or(usize::MAX);
        let bytes = usize::try_from(offset).ok().and_then(|from| self.0.get(from..end));
        bytes.map(Cow::Borrowed).ok_or(ModuleMemoryReadError { offset, length, start_address: None, error: ReadError::OutOfBounds })
    }
    fn absolute_to_relative(&self, addr: u64) -> Option<u64> {
        Some(addr)
    }
    fn relative_to_absolute(&self, addr: u64) -> Option<u64> {
        Some(addr)
    }
    fn is_process_memory(&self) -> bool {
        false
    }
}

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let id = read_build_id_from_module(File(std::fs::read(&path)?)).unwrap_or_default();
        let hex: String = id.iter().map(|b| format!("{b:02x}")).collect();
        let name = path.rsplit('/').next().unwrap_or(&path);
        println!("{name} {}", if hex.is_empty() { "-" } else { &hex });
    }
    Ok(())
}
