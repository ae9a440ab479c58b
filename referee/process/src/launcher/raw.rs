//! System calls that the sandbox refuses, as safe functions for the attacker, and the version of
//! Landlock.

use super::sys::call;
use nix::errno::Errno;
use nix::unistd::Pid;
use std::ffi::{c_int, c_long};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The calling process's keyring, which ends with it.
const PROCESS_KEYRING: c_long = -2;
/// For `keyctl`: get a keyring, or create it.
const GET_KEYRING: c_long = 0;
/// The size of `io_uring_setup`'s parameters.
const RING_PARAMETERS_BYTES: usize = 120;
/// For `userfaultfd`: only for faults in user mode, which needs no rights.
const USER_MODE_ONLY: c_int = 1;
/// For `bpf`: no command has this number.
const NO_COMMAND: c_long = 0x7fff;
/// For `prctl`: any process may trace this one, where Yama restricts that.
const ANY_PROCESS: c_long = -1;

/// Returns the version of Landlock in the kernel; `None` if it has none, or it is switched off.
pub fn landlock_version() -> Option<u32> {
    /// For `landlock_create_ruleset`: only return the version.
    const VERSION: c_long = 1;
    let version = call(libc::SYS_landlock_create_ruleset, [0, 0, VERSION, 0]).ok()?;
    u32::try_from(version).ok().filter(|&version| version > 0)
}

/// Asks for the process's own keyring.
pub(crate) fn own_keyring() -> nix::Result<c_long> {
    call(libc::SYS_keyctl, [GET_KEYRING, PROCESS_KEYRING, 1, 0])
}

/// Puts a key into the process's own keyring.
pub(crate) fn add_key() -> nix::Result<c_long> {
    let (kind, name, payload) = (c"user", c"attack", [1_u8]);
    // SAFETY: two strings that end with a null, and a payload of the length that is given.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    Errno::result(unsafe {
        let (kind, name, payload) = (kind.as_ptr(), name.as_ptr(), payload.as_ptr());
        libc::syscall(libc::SYS_add_key, kind, name, payload, 1, PROCESS_KEYRING)
    })
}

/// Sets up a ring of one entry.
pub(crate) fn io_uring() -> nix::Result<OwnedFd> {
    let mut parameters = [0_u64; RING_PARAMETERS_BYTES / 8];
    // SAFETY: the parameters are as long as the kernel's structure; zeros ask for nothing special.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
    owned(Errno::result(ring)?)
}

/// Asks for a descriptor of page faults.
pub(crate) fn user_fault() -> nix::Result<OwnedFd> {
    let flags = libc::O_CLOEXEC | USER_MODE_ONLY;
    owned(call(libc::SYS_userfaultfd, [flags.into(), 0, 0, 0])?)
}

/// Takes ownership of a file descriptor that a call returned.
fn owned(fd: c_long) -> nix::Result<OwnedFd> {
    let fd = c_int::try_from(fd).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel has just made it for this process.
    #[expect(unsafe_code, reason = "descriptors come as numbers")]
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Calls `bpf` with a command that doesn't exist.
pub(crate) fn bpf_of_no_kind() -> nix::Result<c_long> {
    call(libc::SYS_bpf, [NO_COMMAND, 0, 0, 0])
}

/// Makes a process in its own user namespace, which ends at once. Call it while the process has one
/// thread.
pub(crate) fn clone_into_user_namespace() -> nix::Result<()> {
    let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
    // SAFETY: without a stack and shared memory it is a fork; the new process does nothing but end,
    // and the old one waits for it.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    unsafe {
        match Errno::result(libc::syscall(libc::SYS_clone, c_long::from(flags), 0, 0, 0, 0))? {
            0 => libc::_exit(0),
            child => {
                let child = libc::pid_t::try_from(child).map_err(|_| Errno::ESRCH)?;
                Errno::result(libc::waitpid(child, std::ptr::null_mut(), 0)).map(drop)
            }
        }
    }
}

/// Calls `clone3` without arguments, which makes nothing.
pub(crate) fn clone3_of_nothing() -> nix::Result<c_long> {
    call(libc::SYS_clone3, [0; 4])
}

/// Types a character into a terminal. Call it with a file that is no terminal.
pub(crate) fn push_input(file: impl AsFd) -> nix::Result<c_int> {
    let letter = [b'x'];
    // SAFETY: reads one byte, which is there.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    Errno::result(unsafe { libc::ioctl(file.as_fd().as_raw_fd(), libc::TIOCSTI, letter.as_ptr()) })
}

/// Makes this process the receiver of a file's signals; if that is refused, sets the signal that
/// the file sends.
pub(crate) fn signal_by_file(file: impl AsFd) -> nix::Result<c_long> {
    /// For `fcntl`: the signal that is sent when the file is ready.
    const SET_SIGNAL: c_int = 10;
    // No signals are sent, as the file isn't asked to.
    let ask = |command: c_int, value: c_int| {
        let file = file.as_fd().as_raw_fd();
        call(libc::SYS_fcntl, [file.into(), command.into(), value.into(), 0])
    };
    ask(libc::F_SETOWN, Pid::this().as_raw()).or_else(|_| ask(SET_SIGNAL, libc::SIGURG))
}

/// Traces a process, and detaches from it.
pub(crate) fn trace(pid: Pid) -> nix::Result<()> {
    let pid = pid.as_raw();
    // None of these requests uses an address of either process.
    let ask = |request: libc::c_uint| call(libc::SYS_ptrace, [request.into(), pid.into(), 0, 0]);
    ask(libc::PTRACE_SEIZE)?;
    ask(libc::PTRACE_INTERRUPT)?;
    // SAFETY: a plain system call that is not asked for the status.
    #[expect(unsafe_code, reason = "nix's own fails on signals that it doesn't know")]
    let waited = unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) };
    Errno::result(waited)?;
    ask(libc::PTRACE_DETACH).map(drop)
}

/// Lets any process of the same user trace this one, where Yama allows only parents.
pub(crate) fn let_all_trace() {
    // Without Yama it is refused, and not needed.
    call(libc::SYS_prctl, [libc::PR_SET_PTRACER.into(), ANY_PROCESS, 0, 0]).ok();
}

/// Returns anonymous shared memory, zeroed, until the process ends.
pub(crate) fn shared_pages(bytes: usize) -> nix::Result<&'static mut [u8]> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: new pages of this length, which are never unmapped and have no other owner.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    unsafe {
        let pages = libc::mmap(std::ptr::null_mut(), bytes, rights, flags, -1, 0);
        if pages == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        Ok(std::slice::from_raw_parts_mut(pages.cast(), bytes))
    }
}

/// A segment of System V shared memory, removed on drop.
#[derive(Debug)]
pub(crate) struct Segment(c_long);

impl Segment {
    /// Makes one page that anyone can find by the key, which must be new.
    pub(crate) fn make(key: i32) -> nix::Result<Self> {
        let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o666;
        call(libc::SYS_shmget, [key.into(), 4096, flags.into(), 0]).map(Self)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // It is mapped nowhere.
        call(libc::SYS_shmctl, [self.0, libc::IPC_RMID.into(), 0, 0]).ok();
    }
}

/// Looks for a segment by its key.
pub(crate) fn find_segment(key: i32) -> nix::Result<()> {
    call(libc::SYS_shmget, [key.into(), 0, 0, 0]).map(drop)
}
