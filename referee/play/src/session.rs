//! One agent outside of a match: started as in one, written to line by line, and listened to until a
//! deadline. What it is sent and what to make of its answers is the caller's business.

use super::contender::Contender;
use nix::errno::Errno;
use referee_games::{Dialect, Kind, Meaning};
use referee_match::diagnosis::Used;
use referee_process::agent::{Agent, Sign, Trouble};
use referee_process::launcher::{Launcher, Limit};
use referee_process::sandbox::{Enclosure, reach};
use referee_process::stderr::Piece;
use referee_process::usage::Meters;
use referee_process::work_folder::surroundings;
use referee_process::{cleaning, work_folder};
use referee_protocol::{Limits, Nanos, ToAgent};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How much is read at once.
const SCRATCH_BYTES: usize = 64 * 1024;
/// How long the end of a killed tree is waited for before the machine is blamed.
pub const KILL_WAIT: Duration = Duration::from_secs(10);

/// Something that came from the agent.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Its program runs.
    Started,
    /// A line without its end; `true`: longer than the bound, and this is its beginning.
    Line(Vec<u8>, bool),
    /// It wrote to its stderr.
    Complained,
    /// Its stdout ended.
    Closed,
    /// It no longer reads.
    Deaf,
    /// Its program could not be started, for a reason that may lie with the program.
    Failed(Errno),
    /// The machine could not start it.
    Broken(Trouble),
    /// Its tree went over a limit, and is being killed.
    Limit(Limit),
    /// It ended, with this status in words.
    Exited(String),
    /// Nothing is left of it.
    Gone,
}

/// An agent that somebody talks to.
#[derive(Debug)]
pub struct Session {
    agent: Agent,
    /// The codec, where it speaks another protocol than the referee's own.
    dialect: Option<Box<dyn Dialect>>,
    heard: VecDeque<Heard>,
    scratch: Vec<u8>,
    line_bytes: usize,
    /// Its private work folder, removed with it.
    work: TempDir,
    /// All that it has written to its stderr, as far as it is kept.
    pub stderr: String,
}

impl Session {
    /// Starts an agent, on the current runtime; `launcher` has the enclosure's jail. Nothing of it has run when this returns. A person
    /// can't be started, nor an agent whose protocol the game doesn't know.
    pub fn start(
        launcher: &Launcher,
        enclosure: &Enclosure,
        contender: &Contender,
        kind: Kind,
        limits: &Limits,
    ) -> io::Result<Self> {
        let launch = contender.launch.as_ref();
        let launch = launch.ok_or_else(|| io::Error::other("a person can't be started"))?;
        let dialect = contender.dialect(kind).map_err(io::Error::other)?;
        let work = work_folder::create()?;
        let files = contender.files();
        let reachable =
            files.map(|files| reach::alone(launcher.layers(), &files)).unwrap_or_default();
        reachable.check(&contender.name, launcher.layers())?;
        let reach = reachable.reach(work.path());
        let surroundings = surroundings(work.path(), limits, reach, None);
        let launch = enclosure.wrapped(launch, work.path())?;
        let agent = Agent::start(launcher, &launch, surroundings, limits.stderr_bytes)?;
        Ok(Self {
            agent,
            dialect,
            heard: VecDeque::new(),
            scratch: vec![0; SCRATCH_BYTES],
            line_bytes: usize::try_from(limits.line_bytes).unwrap_or(usize::MAX),
            work,
            stderr: String::new(),
        })
    }

    /// Writes bytes to its stdin; what it doesn't take at once follows while it is listened to.
    pub fn write(&mut self, bytes: &[u8]) {
        self.agent.put(bytes);
        if !self.agent.flush() {
            self.heard.push_back(Heard::Deaf);
        }
    }

    /// Tells it something in its own protocol; the bytes that are written.
    pub fn tell(&mut self, message: &ToAgent) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(dialect) = &mut self.dialect {
            dialect.tell(message);
            dialect.take(&mut bytes);
        } else {
            serde_json::to_writer(&mut bytes, message)
                .expect("memory takes all bytes, and messages have string keys only");
            bytes.push(b'\n');
        }
        self.write(&bytes);
        bytes
    }

    /// What one of its lines means, where it speaks another protocol; what follows from it is
    /// written, and given too.
    pub fn meaning(&mut self, line: &[u8]) -> Option<(Meaning, Vec<u8>)> {
        let dialect = self.dialect.as_mut()?;
        let meaning = dialect.hear(line);
        let mut bytes = Vec::new();
        dialect.take(&mut bytes);
        self.write(&bytes);
        Some((meaning, bytes))
    }

    /// Closes its stdin, after what is still to be written.
    pub fn close(&mut self) {
        self.agent.close();
    }

    /// The next thing that comes from it; `None` when nothing has by `deadline`.
    pub async fn hear(&mut self, deadline: Instant) -> Option<Heard> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(heard);
            }
            let (agent, scratch) = (&mut self.agent, &mut self.scratch);
            let sign = poll_fn(|context| agent.poll_sign(context, scratch));
            let sign = tokio::time::timeout_at(deadline.into(), sign).await.ok()?;
            self.take(sign);
        }
    }

    fn take(&mut self, sign: Sign) {
        let (bound, heard) = (self.line_bytes, &mut self.heard);
        let mut line = |bytes: &[u8], cut: bool| {
            heard.push_back(Heard::Line(bytes.to_vec(), cut));
            true
        };
        match sign {
            Sign::Output(count) => {
                self.agent.framer.push(&self.scratch[..count], bound, &mut line);
            }
            Sign::Closed => {
                self.agent.framer.finish(bound, &mut line);
                self.heard.push_back(Heard::Closed);
            }
            Sign::Complained => {
                let piece = self.agent.complaints.take();
                self.keep(piece);
                self.heard.push_back(Heard::Complained);
            }
            Sign::Started => {
                // Whose processes are to be counted is known only while it runs.
                self.processes();
                self.heard.push_back(Heard::Started);
            }
            Sign::Failed(errno) => self.heard.push_back(Heard::Failed(errno)),
            Sign::Broken(trouble) => self.heard.push_back(Heard::Broken(trouble)),
            Sign::Limit(limit) => self.heard.push_back(Heard::Limit(limit)),
            Sign::Continued => {}
            Sign::Exited(status) => self.heard.push_back(Heard::Exited(status)),
            Sign::Gone => {
                let piece = self.agent.complaints.take();
                self.keep(piece);
                self.heard.push_back(Heard::Gone);
            }
            Sign::Deaf => self.heard.push_back(Heard::Deaf),
        }
    }

    fn keep(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        for piece in pieces {
            if piece.dropped_bytes > 0 {
                self.stderr.push_str("\n[..]\n");
            }
            self.stderr.push_str(&piece.text);
        }
    }

    /// The CPU time that it and all that it started have used so far.
    pub fn cpu(&self) -> Option<Nanos> {
        self.agent.tree_cpu()
    }

    /// What it has used since it was started, `began`.
    pub fn used(&self, began: Instant) -> Used {
        let time = |nanos: Option<Nanos>| Duration::from_nanos(nanos.unwrap_or_default().0);
        let waited = self.agent.meters.as_ref().and_then(Meters::wait);
        Used { wall: began.elapsed(), cpu: time(self.cpu()), waited: time(waited) }
    }

    /// The number of its process, once it runs.
    pub fn process_id(&self) -> Option<i32> {
        Some(self.agent.meters.as_ref()?.process_id())
    }

    /// It is one process with one thread, which waits to read more of its stdin.
    pub fn awaits_input(&self) -> bool {
        self.agent.meters.as_ref().is_some_and(Meters::awaits_input)
    }

    /// Something of it has a core, or waits for one or for the disk.
    pub fn is_busy(&self) -> bool {
        // Its supervisor may have another agent once it is gone.
        !self.agent.gone && self.agent.meters.as_ref().is_some_and(Meters::is_busy)
    }

    /// The beginning of a line whose end has not come.
    pub fn unended(&self) -> &[u8] {
        self.agent.framer.unended()
    }

    /// How many processes are left of it and of what it started.
    pub fn processes(&self) -> usize {
        if self.agent.gone {
            // Its supervisor may have another agent by now.
            return 0;
        }
        self.agent.meters.as_ref().map_or(0, Meters::processes)
    }

    /// Kills what is left and waits until nothing is. What it wrote to stderr meanwhile is kept.
    pub async fn end(mut self) -> io::Result<String> {
        self.agent.kill();
        let deadline = Instant::now() + KILL_WAIT;
        while !self.agent.gone {
            if self.hear(deadline).await.is_none() && Instant::now() >= deadline {
                let text = "processes of the agent could not be killed";
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        let pieces = self.agent.complaints.finish();
        self.keep(pieces);
        cleaning::remove(self.work);
        Ok(self.stderr)
    }
}
