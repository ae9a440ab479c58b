//! Bounds of what was measured: measurements can't be made again, but they can't contradict what else is
//! recorded of a match.

use referee_protocol::{FaultKind, Header, Nanos, PlayedEvent, Verdict};

/// By how much the referee's lag may be longer than a turn: the time of a match doesn't run while it is found out
/// why an agent has closed a pipe.
const HELD_MAX: Nanos = Nanos(60_000_000_000);

/// How much later than the end of a turn its CPU time may have been read, on a busy machine; or used before, since some of it
/// is noticed only in the next turn.
const CPU_READ_LATE: Nanos = Nanos(1_000_000_000);
/// The same where so many processes at once are a wide bound already.
const CPU_READ_SOON: Nanos = Nanos(100_000_000);
/// What it may be more for each process, without a control group: the time of children that have ended is known in
/// clock ticks, and is rounded up.
const CPU_ROUNDED: Nanos = Nanos(20_000_000);
/// How many processes or threads may run at once where neither the cores are recorded nor a limit is enforced.
const CORES: u64 = 64;

/// Returns the most CPU time that can be charged for so much time that ends at this time of the match.
pub(super) fn cpu_max(header: &Header, wall: Nanos, at: Nanos) -> Nanos {
    let at_once = |wall: Nanos, cores: u64| Nanos(wall.0.saturating_mul(cores));
    let any = at_once(wall.plus(CPU_READ_SOON), header.limits.processes.max(CORES));
    match header.sandbox.cores.map(u64::from) {
        // Its counter is exact.
        Some(cores) if has_group(header) => at_once(wall.plus(CPU_READ_LATE), cores),
        // The time for which nothing is known of its processes is charged once one is seen to hide. A process may
        // have had some of it in earlier games.
        Some(cores)
            if !header.sandbox.layers.is_empty()
                && header.seats.iter().all(|seat| seat.games_before == 0) =>
        {
            let rounded = CPU_ROUNDED.0.saturating_mul(header.limits.processes);
            any.min(at_once(at.plus(CPU_READ_LATE), cores).plus(Nanos(rounded)))
        }
        _ => any,
    }
}

/// Checks that an agent can have used so much CPU time in so much time, at this time of the match.
pub(super) fn check_cpu(
    header: &Header,
    cpu: Nanos,
    (wall, at): (Nanos, Nanos),
    when: &str,
) -> Result<(), String> {
    if cpu <= cpu_max(header, wall, at) {
        return Ok(());
    }
    Err(format!(
        "it needs {} ms of CPU time {when}, of which only {} ms had passed",
        cpu.ms_up(),
        wall.ms_up()
    ))
}

/// Checks what was measured at the end of a turn that took `wall`, at this time of the match.
pub(super) fn check_measured(
    header: &Header,
    played: &PlayedEvent,
    (wall, at): (Nanos, Nanos),
) -> Result<(), String> {
    check_cpu(header, Nanos(played.cpu_ns.unwrap_or(0)), (wall, at), "in its turn")?;
    if played.lag_ns > wall.plus(HELD_MAX).0 {
        return Err(format!(
            "lag_ns: the referee was late by {} ms in a turn of {} ms",
            Nanos(played.lag_ns).ms_up(),
            wall.ms_up()
        ));
    }
    // All its processes may wait for a core at once, and some of that is noticed only after the turn.
    let processes = header.limits.processes.max(CORES);
    let waited = Nanos(played.wait_ns.unwrap_or(0));
    if waited.0 > wall.plus(CPU_READ_LATE).0.saturating_mul(processes) {
        return Err(format!(
            "wait_ns: it waited {} ms for a core in a turn of {} ms",
            waited.ms_up(),
            wall.ms_up()
        ));
    }
    Ok(())
}

/// Checks the peaks of memory. Only a control group's are of what its limit bounds: others are measured, and enforced,
/// between two looks, and an adapter counts the memory of its agent as the course did.
pub(super) fn check_peaks(header: &Header, verdict: &Verdict) -> Result<(), String> {
    let limit_kb = header.limits.memory_mb.saturating_mul(1024);
    for (seat, listed) in verdict.seats.iter().zip(&header.seats) {
        let measured = seat.peak_memory_kb.filter(|_| has_group(header) && !listed.is_foreign());
        let Some(peak_kb) = measured else { continue };
        let is_out_of_memory =
            seat.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Memory);
        // The kernel refuses memory some pages at a time, and lets itself have a little above the limit.
        if is_out_of_memory && peak_kb < limit_kb / 16 * 15 {
            return Err(format!(
                "seat {} is out (memory), but had {peak_kb} KiB at most, of {limit_kb}",
                seat.seat
            ));
        }
        if peak_kb > limit_kb.saturating_mul(2) {
            return Err(format!(
                "peak_memory_kb: seat {} had {peak_kb} KiB, but its control group allowed {limit_kb}",
                seat.seat
            ));
        }
    }
    Ok(())
}

/// Whether each agent had a control group.
fn has_group(header: &Header) -> bool {
    header.sandbox.layers.iter().any(|layer| layer.starts_with("cgroup v"))
}
