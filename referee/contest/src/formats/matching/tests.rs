use super::{Cost, PART_MAX, WHOLE_MAX, cheapest_pairs, parts_of};
use proptest::prelude::*;

/// The least cost over all ways to pair, by dynamic programming over sets of vertices.
fn least(count: usize, cost: &[Vec<[i64; 2]>]) -> [i64; 2] {
    let mut best = vec![None; 1 << count];
    best[0] = Some([0, 0]);
    for set in 1_usize..1 << count {
        let u = set.trailing_zeros() as usize;
        for v in u + 1..count {
            if set & 1 << v == 0 {
                continue;
            }
            let Some([first, second]) = best[set & !(1 << u) & !(1 << v)] else { continue };
            let sum = [first + cost[u][v][0], second + cost[u][v][1]];
            best[set] = Some(best[set].map_or(sum, |old: [i64; 2]| old.min(sum)));
        }
    }
    best[(1 << count) - 1].unwrap()
}

fn sum(pairs: &[(usize, usize)], cost: &[Vec<[i64; 2]>]) -> [i64; 2] {
    pairs.iter().fold([0, 0], |sum, &(u, v)| [sum[0] + cost[u][v][0], sum[1] + cost[u][v][1]])
}

fn table(count: usize, figures: &[(i64, i64)]) -> Vec<Vec<[i64; 2]>> {
    let figure = |u: usize, v: usize| {
        let (first, second) = figures[(u.min(v) * count + u.max(v)) % figures.len()];
        [first, second]
    };
    (0..count).map(|u| (0..count).map(|v| figure(u, v)).collect()).collect()
}

fn perfect(count: usize, pairs: &[(usize, usize)]) -> bool {
    let mut all: Vec<usize> = pairs.iter().flat_map(|&(u, v)| [u, v]).collect();
    all.sort_unstable();
    all == (0..count).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Small figures make many ties and many blossoms.
    #[test]
    fn pairs_are_the_cheapest(
        half in 0_usize..=7,
        figures in prop::collection::vec((0_i64..4, -3_i64..40), 197),
    ) {
        let count = 2 * half;
        let cost = table(count, &figures);
        let pairs = cheapest_pairs(count, |u, v| Cost(cost[u][v]));
        prop_assert!(perfect(count, &pairs));
        prop_assert_eq!(sum(&pairs, &cost), least(count, &cost));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Points in a plane: no exchange of partners among any four pairs that lie together is
    /// better.
    #[test]
    fn no_exchange_is_better(
        points in prop::collection::vec((0_i64..60, 0_i64..60), 26..80),
        whole in 0_i64..3,
    ) {
        let count = points.len() - points.len() % 2;
        let cost = |u: usize, v: usize| {
            let (a, b): ((i64, i64), (i64, i64)) = (points[u], points[v]);
            let far = (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2);
            Cost([if whole > 0 { far / (whole * 200) } else { 0 }, far])
        };
        let pairs = cheapest_pairs(points.len(), cost);
        prop_assert!(perfect(count, &pairs));
        for window in pairs.windows(4) {
            let mut ends: Vec<usize> = window.iter().flat_map(|&(u, v)| [u, v]).collect();
            ends.sort_unstable();
            let own: Vec<Vec<[i64; 2]>> =
                ends.iter().map(|&u| ends.iter().map(|&v| cost(u, v).0).collect()).collect();
            let together = window.iter().fold([0, 0], |sum, &(u, v)| {
                let Cost(cost) = cost(u, v);
                [sum[0] + cost[0], sum[1] + cost[1]]
            });
            prop_assert_eq!(together, least(8, &own));
        }
    }
}

#[test]
fn large_fields_are_cut_into_equal_parts() {
    for (count, parts) in [(256, 1), (258, 3), (751, 6), (0, 0), (1, 1)] {
        let bounds: Vec<_> = parts_of(count).collect();
        assert_eq!(bounds.len(), parts);
        let mut next = 0;
        for (from, to) in bounds {
            let most = if count > WHOLE_MAX { PART_MAX } else { WHOLE_MAX };
            assert!(from == next && (to - from) % 2 == 0 && to - from <= most);
            next = to;
        }
        assert_eq!(next, count - count % 2);
    }
}
