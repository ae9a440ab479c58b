//! The `referee` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    referee::main()
}
