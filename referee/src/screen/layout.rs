//! The layout of the screen.

use ratatui::layout::Rect;

/// The minimum number of columns.
pub(super) const COLUMNS_MIN: u16 = 30;
/// The minimum number of lines.
pub(super) const LINES_MIN: u16 = 10;
/// The minimum number of columns of the lists.
pub(super) const LISTS_COLUMNS_MIN: u16 = 24;
/// The number of lines at the top and the bottom.
pub(super) const BARS: usize = 3;
/// The minimum number of columns to show the pane beside the moves.
const BESIDE_COLUMNS_MIN: u16 = 72;
/// The number of columns of the moves beside the pane.
const MOVES_COLUMNS: u16 = 32;
/// With fewer lines, clocks and moves take one line each.
const LISTS_LINES_MIN: u16 = 9;

/// The areas of the screen. Empty ones aren't drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The title: a line.
    pub(super) title: Rect,
    /// The board, with its captions below.
    pub(super) board: Rect,
    /// A line per seat, or one line for all.
    pub(super) clocks: Rect,
    /// The captions that don't fit below the board.
    pub(super) figures: Rect,
    /// A line per ply, or one line for some plies.
    pub(super) moves: Rect,
    /// The output of agents.
    pub(super) pane: Rect,
    /// The progress and the last event: a line.
    pub(super) course: Rect,
    /// The keys: a line.
    pub(super) hints: Rect,
}

/// The sizes of what is to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The columns and lines of the board with its captions; `None` if it isn't shown.
    pub(super) board: Option<(u16, u16)>,
    /// The number of seats.
    pub(super) seats: u16,
    /// The lines of captions that don't fit below the board.
    pub(super) figures: u16,
}

/// Returns the areas on a screen of this size; `None` if it is too small.
pub(super) fn places(screen: Rect, wanted: Wanted) -> Option<Places> {
    if screen.width < COLUMNS_MIN || screen.height < LINES_MIN {
        return None;
    }
    let (title, rest) = top(screen, 1);
    let (body, bottom) = top(rest, rest.height - 2);
    let (course, hints) = top(bottom, 1);
    let places = Places { title, course, hints, ..Places::default() };
    let Some((columns, lines)) = wanted.board else {
        return Some(with_lists(places, body, wanted));
    };
    if body.width > columns + LISTS_COLUMNS_MIN {
        let (board, lists) = left(body, columns);
        let (_, lists) = left(lists, 1);
        return Some(with_lists(Places { board, ..places }, lists, wanted));
    }
    let most = body.height - body.height.min(6).max(body.height / 3);
    let (board, lists) = top(body, lines.min(most));
    Some(with_lists(Places { board, ..places }, lists, wanted))
}

fn with_lists(mut places: Places, area: Rect, wanted: Wanted) -> Places {
    let Wanted { seats, figures, .. } = wanted;
    let beside = area.width >= BESIDE_COLUMNS_MIN;
    let short = area.height < LISTS_LINES_MIN + if beside { 0 } else { seats };
    let (clocks, rest) = top(area, if short { 1 } else { seats });
    places.clocks = clocks;
    let (figures, rest) = top(rest, if short { 0 } else { figures.min(rest.height / 4) });
    places.figures = figures;
    if beside {
        let (_, rest) = top(rest, 1);
        let (moves, rest) = left(rest, MOVES_COLUMNS);
        let (_, pane) = left(rest, 2);
        return Places { moves, pane, ..places };
    }
    if short {
        let (moves, pane) = top(rest, 1);
        return Places { moves, pane, ..places };
    }
    let (_, rest) = top(rest, 1);
    let (moves, rest) = top(rest, (rest.height * 2 / 5).max(3));
    let (_, pane) = top(rest, 1);
    Places { moves, pane, ..places }
}

/// Splits an area after this number of lines.
fn top(area: Rect, lines: u16) -> (Rect, Rect) {
    let lines = lines.min(area.height);
    let rest = Rect { y: area.y + lines, height: area.height - lines, ..area };
    (Rect { height: lines, ..area }, rest)
}

/// Splits an area after this number of columns.
fn left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let rest = Rect { x: area.x + columns, width: area.width - columns, ..area };
    (Rect { width: columns, ..area }, rest)
}

#[cfg(test)]
mod tests {
    use super::{Places, Wanted, places};
    use ratatui::layout::Rect;

    fn all(places: Places) -> [Rect; 8] {
        let Places { title, board, clocks, figures, moves, pane, course, hints } = places;
        [title, board, clocks, figures, moves, pane, course, hints]
    }

    #[test]
    fn nothing_overlaps_or_leaves_the_screen() {
        for (width, height) in (1..140).flat_map(|width| (1..60).map(move |height| (width, height)))
        {
            let screen = Rect::new(0, 0, width, height);
            for seats in [1, 2, 6] {
                for board in [None, Some((9, 5)), Some((25, 21)), Some((55, 51)), Some((300, 1))] {
                    let Some(found) = places(screen, Wanted { board, seats, figures: 3 }) else {
                        assert!(width < 30 || height < 10);
                        continue;
                    };
                    let all = all(found);
                    for (index, one) in all.iter().enumerate() {
                        assert_eq!(screen.intersection(*one).area(), one.area());
                        for other in &all[..index] {
                            assert_eq!(one.intersection(*other).area(), 0, "{found:?}");
                        }
                    }
                    assert!(found.pane.area() > 0 && found.moves.area() > 0, "{found:?}");
                    assert!(found.board.area() > 0 || board.is_none(), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn a_common_board_is_whole_on_a_common_screen() {
        let board = Some((25, 21));
        let found =
            places(Rect::new(0, 0, 80, 24), Wanted { board, seats: 2, figures: 0 }).unwrap();
        assert_eq!((found.board.width, found.board.height), (25, 21));
        assert_eq!((found.pane.x, found.pane.width), (26, 54));
    }
}
