//! The exact lines between referee and agents, ply by ply.

use super::sent::Sent;
use super::steps::walk;
use referee_protocol::{Event, Seat, line_bytes};

/// A line as it went through a pipe, without its end. Bytes that are no UTF-8 are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The agent at the other end.
    pub seat: Seat,
    /// Whether it was written to the agent; else it came from it.
    pub sent: bool,
    /// The line.
    pub text: String,
    /// Whether it was longer and only its beginning was kept.
    pub cut: bool,
}

/// The lines of each ply of a [`Playback`](super::Playback) of the same bytes, and behind the
/// last ply those that belong to the ply to come; as far as it can be walked over. Plies that aren't
/// `wanted` are left empty. What tells an agent of a ply stands with that ply, though it travels with
/// the agent's next request.
pub fn exchange(bytes: &[u8], wanted: impl Fn(usize) -> bool) -> Result<Vec<Vec<Said>>, String> {
    let mut steps = walk(bytes).map_err(|error| error.to_string())?;
    let seats = Seat::all(steps.walk().header().seats.len());
    let written = seats.map(|seat| Sent::begin(steps.walk(), seat));
    let mut written = written.collect::<Result<Vec<_>, _>>()?;
    let mut plies = vec![Vec::new()];
    put_sent(&mut written, &mut plies[0]);
    let mut coming = Vec::new();
    let mut over = false;
    while let Ok(Some(event)) = steps.step() {
        if let Event::Line(line) = &event {
            let text = String::from_utf8_lossy(&line_bytes(line)).into_owned();
            coming.push(Said { seat: line.seat, sent: false, text, cut: line.cut });
        }
        for written in &mut written {
            written.event(&event, steps.walk().game());
        }
        put_sent(&mut written, &mut coming);
        if !wanted(if over { plies.len() - 1 } else { plies.len() }) {
            coming.clear();
        }
        over |= matches!(event, Event::Over(_));
        if matches!(event, Event::Played(_) | Event::Retired(_) | Event::Over(_)) {
            plies.push(std::mem::take(&mut coming));
        } else if over && let Some(last) = plies.last_mut() {
            last.append(&mut coming);
        }
    }
    plies.push(coming);
    Ok(plies)
}

fn put_sent(written: &mut [Sent], said: &mut Vec<Said>) {
    for written in written {
        let bytes = written.take();
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        said.extend(lines.map(|line| Said {
            seat: written.seat,
            sent: true,
            text: String::from_utf8_lossy(line).into_owned(),
            cut: false,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::exchange;
    use crate::transcript::{Following, read, sent, unpack};

    const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts");

    #[test]
    fn every_line_stands_with_its_ply() {
        let mut files = 0;
        for entry in std::fs::read_dir(GOLDEN).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let bytes = unpack(&bytes, 1 << 30).unwrap();
            let reading = read(&bytes).unwrap();
            let header = reading.header.clone();
            let events: Vec<_> = reading.collect();
            let plies = exchange(&bytes, |_| true).unwrap();
            let following = Following::of(&bytes);
            let playback = following.playback().unwrap();
            assert_eq!(plies.len(), playback.plies().len() + 1, "{}", path.display());
            let middle = plies.len() / 2;
            let one = exchange(&bytes, |ply| ply == middle).unwrap();
            assert_eq!((one.len(), &one[middle]), (plies.len(), &plies[middle]));
            assert!(one.iter().enumerate().all(|(ply, said)| ply <= middle || said.is_empty()));
            for (said, ply) in plies.iter().zip(playback.plies()) {
                let came = said.iter().filter(|line| !line.sent).count();
                assert_eq!(came, ply.beside.lines.len(), "{} {}", path.display(), ply.turn);
            }
            for seat in &header.seats {
                let own = plies.iter().flatten().filter(|line| line.sent && line.seat == seat.seat);
                let text = own.fold(String::new(), |text, line| text + &line.text + "\n");
                let whole = sent(&header, seat.seat, &events, None).unwrap();
                assert_eq!(text, String::from_utf8(whole).unwrap(), "{}", path.display());
            }
            files += 1;
        }
        assert!(files > 0);
    }
}
