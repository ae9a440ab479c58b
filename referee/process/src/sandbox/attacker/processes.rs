//! Other processes, and the attacker's own.

use super::{ATTACKER_COMMAND, DAEMON, DAEMON_ITSELF, Outcome, Targets, plain};
use crate::launcher::raw;
use nix::sys::signal::{SigSet, kill};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::{Pid, setsid};
use std::io::{self, IoSliceMut, Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long a daemon stays if it isn't killed.
const DAEMON_STAY: Duration = Duration::from_secs(60);

pub(super) fn signal(pid: i32) -> Outcome {
    plain(kill(Pid::from_raw(pid), None))
}

pub(super) fn read_memory(targets: &Targets) -> Outcome {
    let mut bytes = [0; 8];
    let remote = [RemoteIoVec { base: targets.address, len: bytes.len() }];
    let victim = Pid::from_raw(targets.victim);
    plain(process_vm_readv(victim, &mut [IoSliceMut::new(&mut bytes)], &remote))
}

/// Starts a process that starts a daemon and ends.
pub(super) fn daemon(targets: &Targets) -> Outcome {
    plain(own_program(&[DAEMON, &targets.daemon]).status())
}

fn own_program(words: &[&str]) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(ATTACKER_COMMAND).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs the process between the attacker and its daemon, which becomes an orphan.
pub(super) fn become_daemon(words: &[String]) {
    setsid().ok();
    let word = words.first().map_or("", String::as_str);
    own_program(&[DAEMON_ITSELF, word]).spawn().ok();
}

/// Runs the daemon, which blocks all signals.
pub(super) fn be_daemon() {
    setsid().ok();
    SigSet::all().thread_block().ok();
    std::thread::sleep(DAEMON_STAY);
}

/// Lets any process trace it, prints the address of a secret in its memory, and stays until its
/// stdin ends.
pub(super) fn be_victim() {
    raw::let_all_trace();
    let treasure = [7_u8; 8];
    let answer = writeln!(io::stdout(), "{}", treasure.as_ptr().addr());
    if answer.is_ok() {
        io::stdin().read_to_end(&mut Vec::new()).ok();
    }
    std::hint::black_box(treasure);
}
