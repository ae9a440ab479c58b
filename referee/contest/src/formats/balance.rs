//! Who sits where when a pairing is played in one order only.

use super::Pairing;

/// Stands for a seat that nobody has taken.
const NOBODY: usize = usize::MAX;

/// Puts the players of each pairing in an order such that over all pairings every player has every
/// seat equally often, give or take one.
///
/// There always is one: players and pairings are the two sides of a bipartite graph, seats are the
/// colours of its edges. A player is split into parts of as many pairings as there are seats, in
/// the order of the list, and by Kőnig's theorem a bipartite graph can be coloured with as many
/// colours as its fullest corner has edges. The colouring goes edge by edge and swaps two colours
/// along a path where an edge finds none that is free at both ends.
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
    /// The part of a player that each edge ends at.
    ends: Vec<usize>,
    /// The edge of each colour at each pairing, and at each part of a player.
    at_pairing: Vec<usize>,
    at_part: Vec<usize>,
}

impl Colouring {
    fn new(pairings: &[Pairing], players: usize, seats: usize) -> Self {
        // The part that a player's next pairing belongs to, and how many more have room in it.
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
        let at_pairing = vec![NOBODY; ends.len()];
        Self { seats, ends, at_pairing, at_part: vec![NOBODY; parts * seats] }
    }

    fn colour(&mut self, edge: usize) {
        let (part, pairing) = (self.ends[edge] * self.seats, edge / self.seats * self.seats);
        let place = edge % self.seats;
        let free = |taken: &[usize], from: usize| {
            (0..self.seats)
                .map(|seat| (seat + place) % self.seats)
                .find(|seat| taken[from + seat] == NOBODY)
                .expect("a corner has as many colours as edges")
        };
        let of_part = free(&self.at_part, part);
        let mut of_pairing = free(&self.at_pairing, pairing);
        if self.at_pairing[pairing + of_part] == NOBODY {
            of_pairing = of_part;
        } else if self.at_part[part + of_pairing] != NOBODY {
            self.swap_along(self.at_part[part + of_pairing], of_pairing, of_part);
        }
        self.take(edge, of_pairing);
    }

    /// Gives the edge, which has the one colour, the other one, and so on along the path of these
    /// two colours that begins with it at a part of a player.
    fn swap_along(&mut self, edge: usize, mut one: usize, mut other: usize) {
        let mut path = vec![edge];
        let mut edge = edge;
        loop {
            let corner = if path.len() % 2 == 1 {
                self.at_pairing[edge / self.seats * self.seats + other]
            } else {
                self.at_part[self.ends[edge] * self.seats + other]
            };
            if corner == NOBODY {
                break;
            }
            path.push(corner);
            edge = corner;
            std::mem::swap(&mut one, &mut other);
        }
        // One and other are now those of the last edge; freed from the end on, taken again anew.
        for (index, &edge) in path.iter().enumerate() {
            let colour = if (path.len() - index) % 2 == 1 { one } else { other };
            self.at_part[self.ends[edge] * self.seats + colour] = NOBODY;
            self.at_pairing[edge / self.seats * self.seats + colour] = NOBODY;
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
