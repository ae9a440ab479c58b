//! Where a program file can run: its loader and its processor.

use crate::files::head;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of a program is read. The loader's name is near the beginning.
const HEAD_BYTES: u64 = 64 * 1024;
/// The type of the program header with the loader's name.
const INTERPRETER: u64 = 3;
/// Processors that run another's programs: x86-64 runs i386, 64-bit ARM runs ARM.
const RUN_BY: &[(u64, u64)] = &[(3, 62), (40, 183)];

/// The head of a program file.
#[derive(Debug)]
pub(super) struct Elf(Vec<u8>);

impl Elf {
    /// Reads that of a file, if it is little-endian ELF, as on all supported machines.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let head = head(file, HEAD_BYTES)?;
        (head.starts_with(b"\x7fELF") && head.get(5) == Some(&1)).then_some(Self(head))
    }

    /// Returns the loader that it names, if any.
    pub(super) fn loader(&self) -> Option<PathBuf> {
        let wide = self.0.get(4) == Some(&2);
        let (table, size, count) = if wide { ((32, 8), 54, 56) } else { ((28, 4), 42, 44) };
        let (place, length) = if wide { ((8, 8), (32, 8)) } else { ((4, 4), (16, 4)) };
        let table = self.number(table.0, table.1)?;
        let size = self.number(size, 2)?;
        for nth in 0..self.number(count, 2)? {
            let at = usize::try_from(table.checked_add(nth * size)?).ok()?;
            if self.number(at, 4)? == INTERPRETER {
                let begin =
                    usize::try_from(self.number(at.checked_add(place.0)?, place.1)?).ok()?;
                let length = self.number(at.checked_add(length.0)?, length.1)?;
                let end = begin.checked_add(usize::try_from(length).ok()?)?;
                let name = self.0.get(begin..end)?.split(|&byte| byte == 0).next()?;
                return Some(Path::new(OsStr::from_bytes(name)).to_owned());
            }
        }
        None
    }

    /// Whether it is for another processor than this program.
    pub(super) fn is_foreign(&self) -> bool {
        let own = Self::of(Path::new("/proc/self/exe")).and_then(|own| own.machine());
        let (Some(own), Some(machine)) = (own, self.machine()) else { return false };
        machine != own && !RUN_BY.contains(&(machine, own))
    }

    fn machine(&self) -> Option<u64> {
        self.number(18, 2)
    }

    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.0.get(at..at.checked_add(bytes)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::Elf;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_program_names_what_it_needs() {
        let own = fs::read("/proc/self/exe").unwrap();
        let elf = Elf::of(Path::new("/proc/self/exe")).unwrap();
        assert!(elf.loader().is_none_or(|loader| loader.is_file()));
        assert!(!elf.is_foreign());
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("program");
        let with = |at: usize, bytes: &[u8]| {
            let mut head = own[..4096].to_vec();
            head[at..at + bytes.len()].copy_from_slice(bytes);
            fs::write(&file, head).unwrap();
            Elf::of(&file)
        };
        assert!(with(18, &[0xf7, 0xf7]).unwrap().is_foreign());
        assert!(with(0, b"MZ").is_none());
        assert_eq!(with(32, &[0xff; 8]).unwrap().loader(), None, "a table that isn't there");
        assert_eq!(with(56, &[0xff; 2]).unwrap().loader().is_some(), elf.loader().is_some());
        fs::write(&file, "#!/bin/sh").unwrap();
        assert!(Elf::of(&file).is_none());
    }
}
