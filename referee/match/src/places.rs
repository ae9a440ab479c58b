//! The places of a verdict: by the rules for the seats still in, by the order of leaving for the
//! others.

use referee_protocol::{Outcome, Seat};

/// A seat that is out.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The seat.
    pub seat: Seat,
    /// The first turn of the choice of several seats at once in which it left. Those that leave in the same one are level.
    pub choice: Option<u64>,
}

/// Returns the place of each seat, 1 is best, by competition ranking (protocol.md, "Outcome and
/// verdict"): first the seats still in, by the outcome, all sharing the best place if the rules did
/// not end the game; then those in `gone`, the later the better, and
/// those level that left in the same choice of several seats at once.
///
/// `gone` lists each seat at most once, in the order in which they left. With a single seat, gone or
/// no outcome is place 2, an unsolved puzzle.
pub fn places(seats: usize, outcome: Option<&Outcome>, gone: &[Departure]) -> Vec<u32> {
    if seats == 1 {
        let solved = outcome.filter(|_| gone.is_empty());
        return solved.map_or_else(|| vec![2], |outcome| outcome.places.clone());
    }
    let place_by_rules = |seat: Seat| {
        outcome.and_then(|outcome| outcome.places.get(seat.index()).copied()).unwrap_or(1)
    };
    let place = |seat: Seat| {
        if let Some(own) = gone.iter().find(|other| other.seat == seat) {
            let is_level = |other: &Departure| {
                other.seat == seat || own.choice.is_some() && other.choice == own.choice
            };
            return seats - gone.iter().rposition(is_level).unwrap_or_default();
        }
        let own = place_by_rules(seat);
        let still_in = Seat::all(seats).filter(|seat| gone.iter().all(|it| it.seat != *seat));
        1 + still_in.filter(|&other| place_by_rules(other) < own).count()
    };
    Seat::all(seats).map(|seat| u32::try_from(place(seat)).unwrap_or(u32::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Departure, places};
    use referee_protocol::{Outcome, Seat};

    /// The places by the rules (empty: they did not end the game), who left, and the expected places.
    type Case = (&'static [u32], &'static [u8], &'static [u32]);

    #[test]
    fn every_way_to_end() {
        let cases: &[Case] = &[
            // All seats are in: the rules alone.
            (&[1, 2], &[], &[1, 2]),
            (&[1, 1], &[], &[1, 1]),
            (&[2, 1, 2], &[], &[2, 1, 2]),
            (&[1, 1, 3], &[], &[1, 1, 3]),
            // One of two left.
            (&[], &[0], &[2, 1]),
            (&[], &[1], &[1, 2]),
            // The first of three ended the match (`on_fault` "end"): the rest share the best place.
            (&[], &[0], &[3, 1, 1]),
            (&[], &[1], &[1, 3, 1]),
            // Three seats, the last one left (`last_seat`).
            (&[], &[2, 0], &[2, 1, 3]),
            (&[], &[0, 2], &[3, 1, 2]),
            // Three seats, one left and the others played on.
            (&[2, 1, 2], &[1], &[1, 3, 1]),
            (&[1, 2, 2], &[2], &[1, 2, 3]),
            (&[1, 1, 1], &[0], &[3, 1, 1]),
            // Six seats, two left.
            (&[2, 2, 1, 2, 2, 2], &[5, 2], &[1, 1, 5, 1, 1, 6]),
            (&[2, 2, 1, 2, 2, 2], &[0, 1], &[6, 5, 1, 2, 2, 2]),
            (&[4, 5, 6, 3, 2, 1], &[4], &[3, 4, 5, 2, 6, 1]),
            // A puzzle: solved, not solved, solved too late, at fault, not ended.
            (&[1], &[], &[1]),
            (&[2], &[], &[2]),
            (&[1], &[0], &[2]),
            (&[], &[0], &[2]),
            (&[], &[], &[2]),
        ];
        for &(rules, gone, wanted) in cases {
            check(rules, gone, wanted);
        }
    }

    #[test]
    fn who_leaves_in_the_same_choice_is_level() {
        let gone = |all: &[(u8, Option<u64>)]| -> Vec<Departure> {
            all.iter().map(|&(seat, choice)| Departure { seat: Seat(seat), choice }).collect()
        };
        let same = gone(&[(0, Some(4)), (1, Some(4))]);
        assert_eq!(places(2, None, &same), [1, 1]);
        assert_eq!(places(2, None, &gone(&[(1, Some(4))])), [1, 2]);
        assert_eq!(places(3, None, &same), [2, 2, 1]);
        let later = gone(&[(2, Some(0)), (0, Some(4)), (1, Some(4))]);
        assert_eq!(places(3, None, &later), [1, 1, 3]);
        assert_eq!(places(3, None, &gone(&[(2, None), (0, None), (1, None)])), [2, 1, 3]);
    }

    fn check(rules: &[u32], gone: &[u8], wanted: &[u32]) {
        let outcome = (!rules.is_empty()).then(|| Outcome {
            places: rules.to_vec(),
            scores: None,
            reason: "any".to_owned(),
        });
        let gone = gone.iter().map(|&seat| Departure { seat: Seat(seat), choice: None });
        let gone: Vec<Departure> = gone.collect();
        let found = places(wanted.len(), outcome.as_ref(), &gone);
        assert_eq!(found, wanted, "rules {rules:?}, gone {gone:?}");
    }
}
