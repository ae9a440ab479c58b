//! The program under test. Cargo gives tests only the paths of binaries in their own package.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    referee::main()
}
