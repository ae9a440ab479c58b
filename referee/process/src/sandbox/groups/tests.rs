//! Tests of control groups on this machine, if the referee may make them.

use super::super::super::work_folder::lock_folder;
use super::{Groups, OwnGroup, PREFIX};
use crate::launcher::{Group, Limit, Share};
use referee_protocol::Limits;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tests move the whole program between groups, so only one may run at a time.
static WHOLE_PROGRAM: Mutex<()> = Mutex::new(());

/// Makes groups, which are dropped before the guard; `None`, with a message, if that isn't possible
/// here.
fn groups() -> Option<(MutexGuard<'static, ()>, Groups)> {
    let guard = WHOLE_PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    match Groups::find() {
        Ok(groups) => Some((guard, groups)),
        Err(failure) => {
            let help = failure.help_text().unwrap_or_default();
            writeln!(std::io::stderr(), "not tested: {failure} ({help})").unwrap();
            None
        }
    }
}

fn limits(memory_mb: u64, processes: u64) -> Limits {
    Limits { memory_mb, processes, ..Limits::default() }
}

/// A Python program in a group.
struct Member {
    group: Group,
    child: Child,
}

impl Member {
    fn start(groups: &Groups, name: &str, limits: &Limits, code: &str) -> Self {
        let group = Group::make(&groups.folders(), name, limits, &Share::Match).unwrap();
        let procs_files = groups.folders().into_iter().map(|it| it.join(name).join("cgroup.procs"));
        let enter = "code=$1; shift; for door; do echo 0 > $door || exit 1; done; exec python3 -c \
                     \"$code\"";
        let mut command = Command::new("sh");
        command.args(["-c", enter, "sh", code]).args(procs_files);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self { group, child: command.spawn().unwrap() }
    }

    fn end(mut self) -> (Option<Limit>, ExitStatus, Group) {
        drop(self.child.stdin.take());
        let status = self.child.wait().unwrap();
        (self.group.passed(), status, self.group)
    }
}

/// Ways to hold memory; each fills `size` MiB bit by bit.
const KINDS: [(&str, &str); 4] = [
    ("private", "it = [bytearray(b'x' * MB) for _ in range(size)]"),
    ("shared", "fill(mmap.mmap(-1, size * MB))"),
    ("memfd", "fill(open(os.memfd_create('held'), 'wb', buffering=0))"),
    ("tmpfs", "fill(tempfile.TemporaryFile(dir='/dev/shm', buffering=0))"),
];

fn holding(size: u64, how: &str) -> String {
    format!(
        "import mmap, os, sys, tempfile\n\
         MB = 1 << 20\n\
         size = {size}\n\
         def fill(file):\n\
         \x20   for _ in range(size): file.write(bytes(MB))\n\
         \x20   globals()['it'] = file\n\
         {how}\n\
         sys.stdin.read()"
    )
}

#[test]
fn too_much_memory_of_any_kind_is_seen_and_others_continue() {
    let Some((_guard, groups)) = groups() else { return };
    for (name, how) in KINDS {
        let other = format!("{name}-2");
        let much = Member::start(&groups, name, &limits(64, 8), &holding(128, how));
        let little = Member::start(&groups, &other, &limits(64, 8), &holding(32, how));
        let (passed, status, _) = much.end();
        assert_eq!(passed, Some(Limit::Memory(64 * 1024 + 4)), "{name}");
        assert!(!status.success(), "{name}");
        let (passed, status, _) = little.end();
        assert_eq!((passed, status.success()), (None, true), "{name}");
    }
}

#[test]
fn memory_is_counted_over_all_processes() {
    let Some((_guard, groups)) = groups() else { return };
    // The children hold their memory until the first of them is killed.
    let code = "import os, signal\n\
                signal.alarm(60)\n\
                end, keep = os.pipe()\n\
                for _ in range(4):\n\
                \x20   if os.fork() == 0:\n\
                \x20       os.close(keep)\n\
                \x20       it = bytearray(b'x' * (16 << 20))\n\
                \x20       os.read(end, 1)\n\
                \x20       os._exit(0)\n\
                os.wait()";
    let (passed, ..) = Member::start(&groups, "sum", &limits(64, 8), code).end();
    assert_eq!(passed, Some(Limit::Memory(64 * 1024 + 4)));
}

#[test]
fn a_process_too_many_is_seen() {
    let Some((_guard, groups)) = groups() else { return };
    let code = |count: u64| {
        format!(
            "import os, sys\n\
             try:\n\
             \x20   for _ in range({count}):\n\
             \x20       if os.fork() == 0: sys.stdin.read(); os._exit(0)\n\
             except OSError: sys.exit(1)\n"
        )
    };
    let (passed, status, _) = Member::start(&groups, "forks", &limits(256, 8), &code(8)).end();
    assert_eq!((passed, status.code()), (Some(Limit::Processes(9)), Some(1)));
    let (passed, status, _) = Member::start(&groups, "fewer", &limits(256, 8), &code(7)).end();
    assert_eq!((passed, status.code()), (None, Some(0)));
}

#[test]
fn time_of_unreaped_children_is_counted() {
    let Some((_guard, groups)) = groups() else { return };
    let code = "import os, signal, sys, time\n\
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                for _ in range(2):\n\
                \x20   if os.fork() == 0:\n\
                \x20       while time.process_time() < 0.1: pass\n\
                \x20       os._exit(0)\n\
                try: os.wait()\n\
                except ChildProcessError: pass\n";
    let (passed, status, group) = Member::start(&groups, "burn", &limits(256, 8), code).end();
    assert_eq!((passed, status.success()), (None, true));
    let cpu = group.cpu().unwrap();
    assert!(cpu.0 >= 200_000_000, "{cpu:?}");
}

#[test]
fn nothing_is_left_behind() {
    let Some((guard, found)) = groups() else { return };
    let own_groups = found.folders();
    let group = Group::make(&own_groups, "one", &limits(64, 8), &Share::Match).unwrap();
    assert!(own_groups.iter().all(|own_group| own_group.join("one").exists()));
    assert!(Group::make(&own_groups, "one", &limits(64, 8), &Share::Match).is_err());
    drop(group);
    assert!(
        own_groups.iter().all(|own_group| own_group.exists() && !own_group.join("one").exists())
    );
    // As if the referee had been killed while an agent ran.
    Group::make(&own_groups, "two", &limits(64, 8), &Share::Match).map(std::mem::forget).unwrap();
    drop(found);
    assert!(own_groups.iter().all(|own_group| !own_group.exists()));
    drop(guard);

    let beside = |own_group: &PathBuf| own_group.with_file_name(format!("{PREFIX}0-1"));
    let Some((_guard, found)) = groups() else { return };
    let left: Vec<_> = found.folders().iter().map(beside).collect();
    drop(found);
    for folder in &left {
        fs::create_dir_all(folder.join("agent")).unwrap();
    }
    let locks: Vec<_> = left.iter().map(|folder| lock_folder(folder).unwrap()).collect();
    drop(Groups::find().unwrap());
    assert!(left.iter().all(|folder| folder.join("agent").exists()));
    // A child of another test may have inherited the files, so closing them is not enough.
    for lock in &locks {
        lock.unlock().unwrap();
    }
    drop(locks);
    drop(Groups::find().unwrap());
    assert!(left.iter().all(|folder| !folder.exists()));
}

/// Groups are folders, so any folder shows it.
#[test]
fn referees_that_start_at_once_leave_each_other_their_groups() {
    let parent = tempfile::tempdir().unwrap();
    let claims = || {
        for _ in 0..1000 {
            let own_group = OwnGroup::claim(parent.path()).unwrap();
            std::thread::yield_now();
            assert!(own_group.folder.exists(), "{}", own_group.folder.display());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(claims);
        }
    });
}
