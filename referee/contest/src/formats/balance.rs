//! Balances seats where a pairing is played in one seat order only.

use super::Pairing;

/// Marks a seat that isn't taken.
const UNASSIGNED: usize = usize::MAX;

/// Orders the players of each pairing such that every player has every seat equally often over all
/// pairings, plus or minus one.
///
/// This is always possible: players and pairings are the two sides of a bipartite graph, and seats
/// are the colours of its edges. A player is split into parts of as many pairings as there are
/// seats, in the order of the list, and by Kőnig's theorem a bipartite graph can be coloured with
/// as many colours as its vertex of highest degree has edges. Edges are coloured one by one. If no
/// colour is free at both ends of an edge, two colours are swapped along a path.
pub(super) fn balance_seats(pairings: &mut [Pairing], players: usize, seats: usize) {
    if seats < 2 {
        return;
    }
    let mut colouring = Colouring::new(pairings, players, seats);
    for edge in 0..colouring.ends.len() {
        colouring.colour(edge);
    }
    for (index, pairing) in pairings.iter_mut().enumerate() {
        let seated = &colouring.at_pairing[index * seats..(index + 1) * seats];
        pairing.players = seated.iter().map(|&edge| pairing.players[edge % seats]).collect();
    }
}

/// Edges are numbered by pairing and place in it.
struct Colouring {
    seats: usize,
    /// The part of a player at the end of each edge.
    ends: Vec<usize>,
    /// The edge of each colour at each pairing and at each part of a player.
    at_pairing: Vec<usize>,
    at_part: Vec<usize>,
}

impl Colouring {
    fn new(pairings: &[Pairing], players: usize, seats: usize) -> Self {
        // The part of a player's next pairing, and how many more pairings fit into it.
        let mut open = vec![(0, 0); players];
        let mut parts = 0;
        let mut ends = Vec::with_capacity(pairings.len() * seats);
        for player in pairings.iter().flat_map(|pairing| &pairing.players) {
            let (part, room) = &mut open[player.index()];
            if *room == 0 {
                (*part, *room) = (parts, seats);
                parts += 1;
            }
            *room -= 1;
            ends.push(*part);
        }
        let at_pairing = vec![UNASSIGNED; ends.len()];
        Self { seats, ends, at_pairing, at_part: vec![UNASSIGNED; parts * seats] }
    }

    fn colour(&mut self, edge: usize) {
        let (part, pairing) = (self.ends[edge] * self.seats, edge / self.seats * self.seats);
        let place = edge % self.seats;
        let free = |taken: &[usize], from: usize| {
            (0..self.seats)
                .map(|seat| (seat + place) % self.seats)
                .find(|seat| taken[from + seat] == UNASSIGNED)
                .expect("a corner has as many colours as edges")
        };
        let of_part = free(&self.at_part, part);
        let mut of_pairing = free(&self.at_pairing, pairing);
        if self.at_pairing[pairing + of_part] == UNASSIGNED {
            of_pairing = of_part;
        } else if self.at_part[part + of_pairing] != UNASSIGNED {
            self.swap_along(self.at_part[part + of_pairing], of_pairing, of_part);
        }
        self.take(edge, of_pairing);
    }

    /// Swaps two colours along the path that begins with this edge, of colour `one`, at a part of a
    /// player.
    fn swap_along(&mut self, edge: usize, mut one: usize, mut other: usize) {
        let mut path = vec![edge];
        let mut edge = edge;
        loop {
            let corner = if path.len() % 2 == 1 {
                self.at_pairing[edge / self.seats * self.seats + other]
            } else {
                self.at_part[self.ends[edge] * self.seats + other]
            };
            if corner == UNASSIGNED {
                break;
            }
            path.push(corner);
            edge = corner;
            std::mem::swap(&mut one, &mut other);
        }
        // `one` and `other` are now those of the last edge. Frees all edges, then takes the swapped
        // colours.
        for (index, &edge) in path.iter().enumerate() {
            let colour = if (path.len() - index) % 2 == 1 { one } else { other };
            self.at_part[self.ends[edge] * self.seats + colour] = UNASSIGNED;
            self.at_pairing[edge / self.seats * self.seats + colour] = UNASSIGNED;
        }
        for (index, &edge) in path.iter().enumerate() {
            self.take(edge, if (path.len() - index) % 2 == 1 { other } else { one });
        }
    }

    fn take(&mut self, edge: usize, colour: usize) {
        self.at_part[self.ends[edge] * self.seats + colour] = edge;
        self.at_pairing[edge / self.seats * self.seats + colour] = edge;
    }
}
