//! Rows k and m: the time to start an agent, and to start the referee itself.

use crate::agent::{AGENT_MODE, HELLO, Piped};
use crate::measure::{Pairs, median};
use crate::report::Bounds::AtMost;
use crate::report::Row;
use crate::script::Script;
use crate::turn::succeed;
use referee_process::agent::{AgentEvent, AgentProcess, Launch, StartConditions};
use referee_process::launcher::{Launcher, LauncherConfig, Reach};
use referee_protocol::Limits;
use std::error::Error;
use std::future::poll_fn;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Agents started one after the other for one figure.
const AGENTS: usize = 40;
/// The heap of the parent process in the second figure.
const HEAP_BYTES: usize = 512 << 20;

/// Measures row k.
pub(crate) fn spawning(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(1)?;
    let launcher = Launcher::start(&LauncherConfig::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let row = |what, target| -> Result<Row, Box<dyn Error>> {
        let times = Pairs::alternate(
            pairs,
            || plainly(&script, &[]),
            || runtime.block_on(by_launcher(&launcher, &script, &start_conditions())),
        )?;
        let (yardstick, measured) = times.medians();
        Ok(Row {
            letter: 'k',
            what,
            figure: times.ratio(),
            unit: "x",
            bounds: AtMost(target, 1.3),
            note: format!("{measured:.0} us against {yardstick:.0} us to the first answer"),
        })
    };
    let small = row("start of an agent / posix_spawn", 1.15)?;
    let heap = black_box(vec![1_u8; HEAP_BYTES]);
    let large = row("the same with 512 MB of heap", 1.3)?;
    drop(heap);
    Ok(vec![small, large])
}

/// Starts agents with `posix_spawn` and blocking pipes, optionally through a wrapper command. Returns the
/// microseconds from the start to the first answer.
pub(crate) fn plainly(script: &Script, wrapper: &[&str]) -> Result<f64, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let own = own.to_string_lossy();
    let mut words = wrapper.iter().copied().chain([own.as_ref()]);
    let program = words.next().ok_or("no program")?;
    let words: Vec<&str> = words.collect();
    let mut micros = Vec::with_capacity(AGENTS);
    for _ in 0..AGENTS {
        let begin = Instant::now();
        let mut command = Command::new(program);
        command.args(&words).arg(AGENT_MODE).arg(script.path()).env_clear();
        let mut agent = Piped::start(command.stderr(Stdio::piped()))?;
        agent.input.write_all(HELLO)?;
        let mut answer = [0; 64];
        if agent.output.read(&mut answer)? == 0 {
            return Err("no answer".into());
        }
        micros.push(begin.elapsed().as_secs_f64() * 1e6);
        agent.end()?;
    }
    Ok(quick(micros))
}

/// Returns the environment of the agents, without any readable files.
pub(crate) fn start_conditions() -> StartConditions {
    let limits = Limits::default();
    StartConditions {
        environment: Vec::new(),
        limits,
        reach: Reach::default(),
        core: None,
        counts_cpu: false,
    }
}

/// Starts agents as the referee does. Returns the microseconds from the start to the first answer.
pub(crate) async fn by_launcher(
    launcher: &Launcher,
    script: &Script,
    conditions: &StartConditions,
) -> Result<f64, Box<dyn Error>> {
    let file = std::env::current_exe()?;
    let command = [file.clone(), PathBuf::from(AGENT_MODE), script.path()]
        .map(|word| word.to_string_lossy().into_owned())
        .to_vec();
    let launch = Launch { file, command, folder: script.folder().to_owned(), ..Launch::default() };
    let mut scratch = vec![0; 64 * 1024];
    let mut micros = Vec::with_capacity(AGENTS);
    for _ in 0..AGENTS {
        let begin = Instant::now();
        let mut agent = AgentProcess::start(launcher, &launch, conditions.clone())?;
        agent.put(HELLO);
        agent.flush();
        until(&mut agent, &mut scratch, |event| matches!(event, AgentEvent::Line(_))).await?;
        micros.push(begin.elapsed().as_secs_f64() * 1e6);
        agent.close();
        until(&mut agent, &mut scratch, |event| matches!(event, AgentEvent::Exited(_))).await?;
        agent.kill();
        until(&mut agent, &mut scratch, |event| matches!(event, AgentEvent::Gone)).await?;
    }
    Ok(quick(micros))
}

/// Returns the fastest decile, because other work of the machine only adds time.
fn quick(mut micros: Vec<f64>) -> f64 {
    micros.sort_unstable_by(f64::total_cmp);
    micros[micros.len() / 10]
}

async fn until(
    agent: &mut AgentProcess,
    scratch: &mut [u8],
    wanted: impl Fn(&AgentEvent) -> bool,
) -> Result<(), Box<dyn Error>> {
    loop {
        let (_, event) = poll_fn(|context| agent.poll_event(context, scratch)).await;
        if wanted(&event) {
            return Ok(());
        }
        if let AgentEvent::Gone | AgentEvent::Failed(_) | AgentEvent::Broken(_) = event {
            return Err(format!("the agent could not be started: {event:?}").into());
        }
    }
}

/// Measures row m, except for the build, which is measured by hand.
pub(crate) fn help(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut millis = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        succeed(Command::new(env!("CARGO_BIN_EXE_referee")).arg("--help"))?;
        millis.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(vec![Row {
        letter: 'm',
        what: "referee --help",
        figure: median(&millis),
        unit: "ms",
        bounds: AtMost(10.0, 20.0),
        note: String::new(),
    }])
}
