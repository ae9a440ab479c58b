//! Telling the match what happened: what the agents did, what the timer says, what is ordered.

use super::{Drive, KILLED, Occurrence, resource};
use crate::table::Orders;
use nix::errno::Errno;
use referee_match::Input;
use referee_process::agent::Sign;
use referee_protocol::Seat;
use std::time::Instant;

impl Drive<'_> {
    pub(super) fn take(&mut self, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Sign(seat, sign) => self.sign(seat, sign),
            Occurrence::Slot(permit) => {
                self.permit = Some(permit);
                self.ask();
            }
            Occurrence::Orders(orders) => self.orders(orders),
            Occurrence::Timer => {
                let now = Instant::now();
                if self.flush_at <= now {
                    self.write_out();
                }
                self.keep_still(now);
                if self.wake_at().is_some_and(|wake| wake <= now) {
                    let reading = self.reading(now);
                    self.input_at(now, Input::Tick(reading));
                }
            }
        }
        self.apply();
    }

    fn orders(&mut self, orders: Orders) {
        self.pause(orders.paused);
        if !orders.paused {
            self.table.canary.forget();
        }
        if let Some(text) = orders.stop {
            self.input(Input::Stop { cause: "interrupted", text });
        }
    }

    pub(super) fn sign(&mut self, seat: Seat, sign: Sign) {
        match sign {
            Sign::Started => {}
            Sign::Failed(errno) => self.failed(seat, errno),
            Sign::Broken(trouble) => {
                let text = format!("seat {seat}: {trouble}");
                self.input(Input::Stop { cause: trouble.cause(), text });
            }
            Sign::Limit(limit) => {
                let text = limit.told(&self.state.header().limits);
                self.input(Input::Limit(seat, resource(limit), text));
            }
            Sign::Continued => self.thawed(seat),
            Sign::Exited(status) => {
                let chair = &self.chairs[seat.index()];
                if !chair.is_status_told() {
                    let status = if chair.is_killed() { KILLED.to_owned() } else { status };
                    self.input(Input::Exited { seat, status, late: false });
                }
            }
            Sign::Gone => {
                let chair = &self.chairs[seat.index()];
                if !chair.is_killed() && !chair.has_exited() {
                    let status = "the end of its supervisor".to_owned();
                    self.input(Input::Exited { seat, status, late: false });
                }
            }
            Sign::Output(count) => self.output(seat, count),
            Sign::Closed => {
                self.last_line(seat);
                self.input(Input::Closed(seat));
            }
            Sign::Complained => {
                if let Some(piece) = self.chairs[seat.index()].complaint(true) {
                    self.complain(seat, piece.text, piece.dropped_bytes);
                }
            }
            Sign::Deaf => self.input(Input::Deaf(seat)),
        }
    }

    /// The program could not be executed: its own fault, but for what the machine lacks.
    fn failed(&mut self, seat: Seat, errno: Errno) {
        let program = self.state.header().seats[seat.index()].command.join(" ");
        let why = match errno {
            Errno::ENOEXEC => "it is no program: a script needs a first line such as \
                 `#!/usr/bin/env python3`, a binary must be built for this machine"
                .to_owned(),
            Errno::EACCES => "it is not executable: `chmod +x` it".to_owned(),
            Errno::ENOENT => "it, or the interpreter in its first line, does not exist".to_owned(),
            Errno::ENOMEM | Errno::EAGAIN | Errno::ENFILE | Errno::EMFILE | Errno::EIO => {
                let text = format!("`{program}` could not be started: {}", errno.desc());
                return self.input(Input::Stop { cause: "machine", text });
            }
            errno => errno.desc().to_owned(),
        };
        self.input(Input::NotStarted(seat, format!("can't start `{program}`: {why}")));
    }

    fn output(&mut self, seat: Seat, count: usize) {
        if self.chairs[seat.index()].is_killed() || self.ending.is_some() {
            return;
        }
        let scratch = self.table.scratch.clone();
        let scratch = scratch.borrow();
        let mut framer = self.chairs[seat.index()].take_framer();
        let bound = self.line_bytes();
        self.judged = Some(seat);
        framer.push(&scratch[..count], bound, |line, cut| self.line(seat, line, cut));
        self.judged = None;
        self.chairs[seat.index()].put_framer(framer);
        // One that waits for its slot already keeps its place.
        if self.slot.is_none()
            && let Some((asked, turn)) = self.request.take_if(|(asked, _)| *asked == seat)
        {
            self.want_slot(asked, turn);
        }
    }

    fn last_line(&mut self, seat: Seat) {
        let mut framer = self.chairs[seat.index()].take_framer();
        let bound = self.line_bytes();
        framer.finish(bound, |line, cut| self.line(seat, line, cut));
    }

    fn line_bytes(&self) -> usize {
        usize::try_from(self.state.header().limits.line_bytes).unwrap_or(usize::MAX)
    }

    /// One line; whether the next one still matters.
    fn line(&mut self, seat: Seat, line: &[u8], cut: bool) -> bool {
        let now = Instant::now();
        let mut meaning = None;
        let has_dialect = self.chairs[seat.index()].has_dialect();
        if has_dialect {
            // A codec must hear exactly the lines that are recorded.
            self.input_at(now, Input::Speaks(seat));
            self.apply();
            if !self.matters(seat) {
                return false;
            }
            meaning = if cut { None } else { self.chairs[seat.index()].hear(line) };
        }
        let reading = self.reading(now);
        let reading = self.reading_at_start(seat, reading);
        self.input_at(now, Input::Line { seat, line, cut, reading, meaning });
        self.apply();
        if has_dialect && self.matters(seat) {
            self.flush(seat);
            self.apply();
        }
        self.matters(seat)
    }

    /// Whether anything that the seat says is still judged.
    fn matters(&self, seat: Seat) -> bool {
        self.ending.is_none() && !self.chairs[seat.index()].is_killed()
    }
}
