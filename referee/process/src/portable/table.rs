//! Finds the processes of an agent in the system's table of processes, which `ps` prints everywhere.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getsid};
use std::process::{Command, Stdio};

/// How `ps` is asked to print the environment of processes after their arguments.
const WITH_ENVIRONMENT: &str = if cfg!(target_os = "macos") { "-E" } else { "e" };

/// An agent's processes.
#[derive(Debug)]
pub(super) struct Tree {
    /// The agent's own process, the leader of its session and of a process group.
    pub(super) agent: Pid,
    /// A variable, as `NAME=value`, that no other program has in its environment. Processes that have
    /// left the agent's session and lost their parent are known by it.
    pub(super) mark: String,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    pid: i32,
    parent: i32,
    group: i32,
    /// It has the mark, or is in the agent's session.
    is_marked: bool,
}

impl Tree {
    /// Returns the agent's processes that have not ended: its own, those of its group and its session,
    /// those with its mark, and the descendants of all of them.
    pub(super) fn members(&self) -> Vec<Pid> {
        let mut command = Command::new("ps");
        command.args(["-A", WITH_ENVIRONMENT, "-ww"]);
        // One by one: to some, what follows `=` is a heading, with commas.
        command.args(["pid=", "ppid=", "pgid=", "stat=", "args="].iter().flat_map(|it| ["-o", it]));
        let printed = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let printed = printed.map(|printed| printed.stdout).unwrap_or_default();
        let mut rows = rows(&String::from_utf8_lossy(&printed), &self.mark);
        for row in &mut rows {
            row.is_marked |= getsid(Some(Pid::from_raw(row.pid))) == Ok(self.agent);
        }
        members(&rows, self.agent.as_raw())
    }

    /// Sends a signal to the agent's group, and to these processes.
    pub(super) fn signal(&self, members: &[Pid], signal: Signal) {
        killpg(self.agent, signal).ok();
        for &pid in members {
            kill(pid, signal).ok();
        }
    }
}

/// Reads the table; leaves out processes that have ended and wait to be reaped.
fn rows(printed: &str, mark: &str) -> Vec<Row> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (pid, parent, group) = (number()?, number()?, number()?);
        let has_ended = words.next()?.starts_with('Z');
        let is_marked = !mark.is_empty()
            && line.match_indices(mark).any(|(start, _)| {
                let end = start + mark.len();
                line[..start].ends_with(' ') && (end == line.len() || line[end..].starts_with(' '))
            });
        (!has_ended).then_some(Row { pid, parent, group, is_marked })
    };
    printed.lines().filter_map(row).collect()
}

/// Returns the processes of the agent.
fn members(rows: &[Row], agent: i32) -> Vec<Pid> {
    let mut found: Vec<i32> = Vec::new();
    loop {
        let is_new = |row: &&Row| {
            !found.contains(&row.pid)
                && (row.pid == agent
                    || row.group == agent
                    || row.is_marked
                    || row.parent == agent
                    || found.contains(&row.parent))
        };
        let new: Vec<i32> = rows.iter().filter(is_new).map(|row| row.pid).collect();
        if new.is_empty() {
            return found.into_iter().map(Pid::from_raw).collect();
        }
        found.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::{Tree, members, rows};
    use nix::sys::signal::Signal;
    use nix::unistd::Pid;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const TABLE: &str = "\
            1     0     1 Ss   /sbin/init\n\
          100     1   100 Ss   agent HOME=/tmp/a/0 TMPDIR=/tmp/a/0\n\
          101   100   100 S    child\n\
          102   100   102 Ss   child in a session of its own\n\
          103   102   103 R    its child in another\n\
          104     1   104 Ss   daemon TMPDIR=/tmp/a/0\n\
          105   104   105 Ss   its child\n\
          106   100   100 Z    [ended]\n\
          107     1   107 Ss   other agent TMPDIR=/tmp/a/01\n\
          108     1   108 Ss   other agent TMPDIR=/tmp/a/0/x\n\
          109     1   109 Ss   other NOT_TMPDIR=/tmp/a/0\n\
        not a row\n";

    #[test]
    fn an_agent_has_its_group_its_mark_and_their_descendants() {
        let found = members(&rows(TABLE, "TMPDIR=/tmp/a/0"), 100);
        let mut found: Vec<i32> = found.into_iter().map(Pid::as_raw).collect();
        found.sort_unstable();
        assert_eq!(found, [100, 101, 102, 103, 104, 105]);
    }

    #[test]
    fn a_daemon_is_found_and_killed() {
        let mark = format!("TMPDIR=/nonexistent/{}", std::process::id());
        let mut command = Command::new("sh");
        // In the background of a shell that has ended, its parent is another process.
        command.args(["-c", "(sleep 600 & echo $!)"]).stdout(Stdio::piped());
        command.env("TMPDIR", mark.trim_start_matches("TMPDIR="));
        let mut shell = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        shell.wait().unwrap();
        let daemon = Pid::from_raw(line.trim().parse().unwrap());
        // No process has this ID.
        let tree = Tree { agent: Pid::from_raw(i32::MAX), mark };
        assert_eq!(tree.members(), [daemon]);
        tree.signal(&tree.members(), Signal::SIGKILL);
        while !tree.members().is_empty() {}
    }
}
