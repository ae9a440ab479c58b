//! `adapter`: programs that run agents written for another referee.

use clap::Args;
use referee_play::adapted::{ADAPTERS, CODE_VARIABLE, PYTHON_VARIABLE, python_of_adapter};
use referee_play::private_copy::{VARIABLES, enter, is_kept};
use referee_process::Failure;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Runs the adapter as it was compiled, if by this Python; else its text. Nothing of the agent's folder is imported.
const COMPILED: &str = "import sys
version, code = sys.argv.pop().split()
program = sys.argv.pop()
if version == str(sys.hexversion):
    first = sys.path.pop(0)
    import binascii, marshal, zlib
    sys.path.insert(0, first)
    program = marshal.loads(zlib.decompress(binascii.a2b_base64(code)))
exec(program)
";

/// Print or run an adapter for agents of another referee
#[derive(Debug, Args)]
#[command(
    after_long_help = "comp30024 runs packages of the course COMP30024 (Freckers 2025, Chexers 2019), \
    comp34111 agents of the course COMP34111 (Hex). Each is one Python file without dependencies. \
    Without the course's preset and setup, the usual clock, limits and rules hold.\n\nExamples:\n  \
    referee adapter comp30024 > comp30024.py\n  \
    referee play freckers comp30024:agent @greedy --preset comp30024-2025\n  \
    referee play hex comp34111:bob @greedy --preset comp34111 --setup first=red --setup swap=sides"
)]
pub(super) struct Options {
    /// Adapter to print
    #[arg(value_parser = ADAPTERS.each_ref().map(|adapter| adapter.name))]
    name: String,
    /// Run the adapter with this module of the working directory, on stdin and stdout
    #[arg(long, value_name = "MODULE[:CLASS]")]
    run: Option<String>,
    /// Refuse what the course's own program refuses, such as an Agent without `**referee`
    #[arg(long, requires = "run")]
    strict: bool,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let adapter = ADAPTERS.iter().find(|adapter| adapter.name == options.name).expect("parsed");
    let Some(package) = &options.run else {
        return super::output::print_exact(adapter.program);
    };
    let python = python_of_adapter()?;
    enter().map_err(|error| Failure::machine(format!("copying the agent's folder: {error}")))?;
    let mut command = Command::new(&python);
    if !is_kept() {
        // Bytecode would be dropped with the copy.
        command.arg("-B");
    }
    let code = std::env::var(CODE_VARIABLE).ok();
    command.args(["-c", code.as_ref().map_or(adapter.program, |_| COMPILED), package]);
    if options.strict {
        command.arg("--strict");
    }
    if let Some(code) = code {
        command.args([adapter.program, &code]);
    }
    for name in VARIABLES {
        command.env_remove(name);
    }
    // A fixed hash seed makes matches repeatable: it orders sets and seeds `random`.
    command.env_remove(PYTHON_VARIABLE).env_remove(CODE_VARIABLE);
    let failed = command.env("PYTHONHASHSEED", "0").exec();
    Err(Failure::machine(format!("{}: {failed}", python.display())))
}
