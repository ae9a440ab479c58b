//! The exact lines between referee and agents, ply by ply.

use super::sent::{NotSent, Sent};
use referee_protocol::{Event, Header, Seat, unescape_line};

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

/// The lines of each ply of a [`Playback`](super::Playback) of the same events, and behind the last
/// ply those that belong to the ply to come. Plies that aren't `wanted` are left empty. What tells an agent of a ply stands with that ply,
/// though it travels with the agent's next request.
pub fn exchange<'a>(
    header: &Header,
    events: impl IntoIterator<Item = &'a Event>,
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<Said>>, NotSent> {
    let seats = Seat::all(header.seats.len());
    let mut written =
        seats.map(|seat| Ok((seat, Sent::begin(header, seat)?))).collect::<Result<Vec<_>, _>>()?;
    let mut plies = vec![Vec::new()];
    put_sent(&mut written, &mut plies[0]);
    let mut coming = Vec::new();
    let mut over = false;
    for event in events {
        if let Event::Line(line) = event {
            let bytes = unescape_line(&line.line, line.escaped);
            let bytes = bytes.unwrap_or_else(|| line.line.clone().into_bytes());
            let text = String::from_utf8_lossy(&bytes).into_owned();
            coming.push(Said { seat: line.seat, sent: false, text, cut: line.cut });
        }
        for (_, sent) in &mut written {
            sent.event(event)?;
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

fn put_sent(written: &mut [(Seat, Sent)], said: &mut Vec<Said>) {
    for (seat, sent) in written {
        let bytes = sent.take();
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        said.extend(lines.map(|line| Said {
            seat: *seat,
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
            let plies = exchange(&header, &events, |_| true).unwrap();
            let following = Following::of(&bytes);
            let playback = following.playback().unwrap();
            assert_eq!(plies.len(), playback.plies().len() + 1, "{}", path.display());
            let middle = plies.len() / 2;
            let one = exchange(&header, &events, |ply| ply == middle).unwrap();
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
