//! Places for visitors, of which there are only so many: nobody can take all of them.

use super::visitor::Visitor;
use referee_process::lock::lock;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Places for visitors.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    taken: Mutex<Vec<Taken>>,
}

/// A place that a visitor has.
#[derive(Debug)]
struct Taken {
    from: Visitor,
    leave: Arc<Notify>,
}

/// The place of a visitor, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    leave: Arc<Notify>,
}

impl Places {
    /// Creates so many places.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Returns a place. If all are taken, the visitor who has the most loses the oldest: nobody can take them all, and
    /// whoever has one, such as a projector that follows a match, keeps it as long as others have more.
    pub(super) fn enter(self: &Arc<Self>, from: Visitor) -> Place {
        let mut all = lock(&self.taken);
        if all.len() >= self.most {
            let count = |of: Visitor| all.iter().filter(|it| it.from == of).count();
            let most = all.iter().map(|it| (count(it.from), it.from == from, it.from)).max();
            let oldest = all.iter().position(|it| Some(it.from) == most.map(|(.., of)| of));
            if let Some(oldest) = oldest {
                all.remove(oldest).leave.notify_one();
            }
        }
        let leave = Arc::<Notify>::default();
        all.push(Taken { from, leave: leave.clone() });
        Place { places: self.clone(), leave }
    }
}

impl Place {
    /// Waits until another visitor needs the place.
    pub(super) async fn lost(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places.taken).retain(|it| !Arc::ptr_eq(&it.leave, &self.leave));
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Places};
    use crate::visitor::Visitor;
    use referee_process::lock::lock;

    const MOST: usize = 64;

    fn visitor(number: u8) -> Visitor {
        Visitor::of([10, 0, 0, number].into())
    }

    #[test]
    fn whoever_has_the_most_makes_room() {
        let all = Places::new(MOST);
        let held = |number| lock(&all.taken).iter().filter(|it| it.from == visitor(number)).count();
        let mut places: Vec<Place> = vec![all.enter(visitor(1))];
        places.extend((0..3 * MOST).map(|_| all.enter(visitor(2))));
        assert_eq!((held(1), held(2)), (1, MOST - 1));
        places.extend((3..13).map(|number| all.enter(visitor(number))));
        assert_eq!((held(1), held(2)), (1, MOST - 11));
        assert!((3..13).all(|number| held(number) == 1));
        // Of equals, the newcomer makes room for itself.
        places.clear();
        assert!(lock(&all.taken).is_empty());
        places.extend((0..64).map(|at| all.enter(visitor(at / 32))));
        places.push(all.enter(visitor(1)));
        assert_eq!((held(0), held(1)), (32, 32));
    }
}
