//! A game program in the process of a built-in agent that looks ahead: a child of it, in the sandbox that it is in
//! itself. Its time is the agent's.

use super::{ANSWER_BYTES_MAX, GameProgram, kit};
use referee_games::GameKind;
use referee_games::program::{Pending, Program, Rules, RulesFailure};
use referee_games::wire::{self, Answer, Numbered, Request};
use referee_process::Failure;
use referee_process::lock::lock;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// Loads the game in a folder without a sandbox. `work` gets the kit; the program ends with this process.
pub fn load_inside(folder: &Path, work: &Path) -> Result<GameKind, Failure> {
    let program = GameProgram::read(folder)?;
    let name = program.spec.name.clone();
    let failed = |text: &dyn fmt::Display| {
        Failure::operation(format!("{}: the rules of {name} failed: {text}", folder.display()))
    };
    kit::write(work).map_err(|error| failed(&error))?;
    let (revision, digest) = (program.revision, program.spec.digest.clone());
    let folder = program.spec.own[0].clone();
    let inside = Inside { program, kit: work.to_owned(), running: Mutex::default() };
    let described = Program::describe(Box::new(inside), (&name, revision), folder, digest);
    let described = described.map_err(|failure| failed(&failure))?;
    Ok(GameKind::of_program(Box::leak(Box::new(described))))
}

/// A program that is started when it is asked something.
struct Inside {
    program: GameProgram,
    kit: PathBuf,
    running: Mutex<Option<Running>>,
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inside").field(&self.program.spec.name).finish()
    }
}

/// Its process.
struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Rules for Inside {
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        Box::pin(std::future::ready(self.ask(request)))
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        let mut running = lock(&self.running);
        // What was wrong with the first process may have come from earlier requests.
        let answer = self.ask_once(&mut running, &request);
        let answer = answer.or_else(|_| self.ask_once(&mut running, &request));
        answer.map_err(|error| RulesFailure(error.to_string()))
    }
}

impl Inside {
    fn ask_once(&self, running: &mut Option<Running>, request: &Request) -> io::Result<Answer> {
        let mut process = match running.take() {
            Some(process) => process,
            None => self.start()?,
        };
        match process.answer(request) {
            Ok(Answer::Failed { text }) => {
                process.end();
                Err(io::Error::other(text))
            }
            Ok(answer) => {
                *running = Some(process);
                Ok(answer)
            }
            Err(error) => {
                process.end();
                Err(error)
            }
        }
    }

    fn start(&self) -> io::Result<Running> {
        let launch = self.program.spec.launch.as_ref();
        let launch = launch.ok_or_else(|| io::Error::other("it has no command"))?;
        let mut command = Command::new(&launch.file);
        command.args(&launch.command[1..]).current_dir(&launch.folder);
        let variables = kit::environment(&launch.env, &self.kit);
        command.envs(variables.iter().filter_map(|variable| variable.split_once('=')));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let pipes = stdin.zip(stdout).ok_or_else(|| io::Error::other("it has no pipes"));
        let (stdin, stdout) = pipes?;
        Ok(Running { child, stdin, stdout: BufReader::new(stdout), next_id: 0 })
    }
}

impl Running {
    fn answer(&mut self, request: &Request) -> io::Result<Answer> {
        let id = Some(self.next_id);
        self.next_id += 1;
        let mut line = serde_json::to_vec(&Numbered { id, message: request })?;
        line.push(b'\n');
        self.stdin.write_all(&line)?;
        self.stdin.flush()?;
        line.clear();
        self.stdout.by_ref().take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::Error::other("it ended before it had answered"));
        }
        let answer = wire::read_answer(&line).map_err(io::Error::other)?;
        if answer.id != id && !matches!(answer.message, Answer::Failed { .. }) {
            return Err(io::Error::other("an answer has the id of another request"));
        }
        Ok(answer.message)
    }

    fn end(mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
