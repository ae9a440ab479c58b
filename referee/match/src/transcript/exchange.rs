//! The exact lines between referee and agents, by ply.

use super::read::read;
use super::walk::Walk;
use referee_games::Games;
use referee_protocol::{Event, Seat, line_bytes};

/// A line that went through a pipe, without its end. Invalid UTF-8 is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangedLine {
    /// The agent's seat.
    pub seat: Seat,
    /// Whether it was sent to the agent; otherwise it came from the agent.
    pub sent: bool,
    /// The line.
    pub text: String,
    /// Whether this is only the beginning of a line that was too long.
    pub cut: bool,
}

/// Returns the lines of each ply of a [`Playback`](super::Playback) of the same bytes, and then those
/// of the next ply, as far as the transcript can be replayed. Plies that aren't `wanted` are empty. The
/// message about a ply is listed with that ply, though it is sent with the agent's next request.
pub fn exchange(
    bytes: &[u8],
    games: &Games,
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<ExchangedLine>>, String> {
    let mut reading = read(bytes).map_err(|error| error.to_string())?;
    let mut walk = Walk::begin_keeping(reading.header.clone(), games, |_| true)?;
    let mut plies = vec![Vec::new()];
    put_sent(&mut walk, &mut plies[0]);
    let mut coming = Vec::new();
    let mut over = false;
    while let Some(event) = reading.next().filter(|event| walk.event(event).is_ok()) {
        if let Event::Line(line) = &event
            && !walk.hides(line.seat)
        {
            let text = String::from_utf8_lossy(&line_bytes(line)).into_owned();
            coming.push(ExchangedLine { seat: line.seat, sent: false, text, cut: line.cut });
        }
        put_sent(&mut walk, &mut coming);
        if !wanted(if over { plies.len() - 1 } else { plies.len() }) {
            coming.clear();
        }
        over |= matches!(event, Event::Over(_));
        if matches!(event, Event::Played(_) | Event::Drawn(_) | Event::Retired(_) | Event::Over(_))
        {
            plies.push(std::mem::take(&mut coming));
        } else if over && let Some(last) = plies.last_mut() {
            last.append(&mut coming);
        }
    }
    plies.push(coming);
    Ok(plies)
}

fn put_sent(walk: &mut Walk, exchanged: &mut Vec<ExchangedLine>) {
    for seat in Seat::all(walk.header().seats.len()) {
        let bytes = walk.take_sent(seat);
        if walk.hides(seat) {
            continue;
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        exchanged.extend(lines.map(|line| ExchangedLine {
            seat,
            sent: true,
            text: String::from_utf8_lossy(line).into_owned(),
            cut: false,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::exchange;
    use crate::transcript::{TranscriptFollower, read, sent, unpack};
    use referee_games::Games;

    const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/transcripts");

    #[test]
    fn every_line_is_listed_with_its_ply() {
        let mut files = 0;
        for entry in std::fs::read_dir(GOLDEN).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let bytes = unpack(&bytes, 1 << 30).unwrap();
            let reading = read(&bytes).unwrap();
            let header = reading.header.clone();
            let events: Vec<_> = reading.collect();
            let plies = exchange(&bytes, &Games::default(), |_| true).unwrap();
            let following = TranscriptFollower::of(&bytes, &Games::default());
            let playback = following.playback().unwrap();
            assert_eq!(plies.len(), playback.plies().len() + 1, "{}", path.display());
            let middle = plies.len() / 2;
            let one = exchange(&bytes, &Games::default(), |ply| ply == middle).unwrap();
            assert_eq!((one.len(), &one[middle]), (plies.len(), &plies[middle]));
            assert!(one.iter().enumerate().all(|(ply, lines)| ply <= middle || lines.is_empty()));
            for (lines, ply) in plies.iter().zip(playback.plies()) {
                let came = lines.iter().filter(|line| !line.sent).count();
                assert_eq!(came, ply.output.lines.len(), "{} {}", path.display(), ply.turn);
            }
            for seat in &header.seats {
                let own = plies.iter().flatten().filter(|line| line.sent && line.seat == seat.seat);
                let text = own.fold(String::new(), |text, line| text + &line.text + "\n");
                let whole = sent(&header, &Games::default(), seat.seat, &events, None).unwrap();
                assert_eq!(text, String::from_utf8(whole).unwrap(), "{}", path.display());
            }
            files += 1;
        }
        assert!(files > 0);
    }
}
