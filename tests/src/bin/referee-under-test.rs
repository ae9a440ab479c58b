//! The program under test: a package's tests only know the paths of its own binaries.

use std::process::ExitCode;

fn main() -> ExitCode {
    referee::main()
}
