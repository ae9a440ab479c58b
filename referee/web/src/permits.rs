//! How much runs at once: for one folder or visitor at most half of it, so that others go on.

use referee_process::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits for a number of things at once, and of each one who takes them at most half.
#[derive(Debug)]
pub(super) struct Permits {
    most: u32,
    all: Arc<Semaphore>,
    of: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// A permit until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// Why there is no permit now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPermit {
    /// All are taken.
    AllTaken,
    /// Whoever asks has half of them.
    HasHalf,
}

impl Permits {
    pub(super) fn new(most: usize) -> Self {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        Self { most, all: Arc::new(Semaphore::new(most as usize)), of: Mutex::default() }
    }

    /// Returns how many there are.
    pub(super) fn most(&self) -> u32 {
        self.most
    }

    /// Returns how many each may have.
    pub(super) fn half(&self) -> u32 {
        self.most.div_ceil(2)
    }

    fn of(&self, whose: &str) -> Arc<Semaphore> {
        let mut known = lock(&self.of);
        known.retain(|_, permits| Arc::strong_count(permits) > 1);
        let new = || Arc::new(Semaphore::new(self.half() as usize));
        known.entry(whose.to_owned()).or_insert_with(new).clone()
    }

    /// Waits for a permit.
    pub(super) async fn take(&self, whose: &str) -> Permit {
        let take = async |permits: Arc<Semaphore>| {
            permits.acquire_owned().await.expect("the semaphore is never closed")
        };
        let own = take(self.of(whose)).await;
        Permit { _own: Some(own), _all: take(self.all.clone()).await }
    }

    /// Takes a permit if there is one; `None` may take all.
    pub(super) fn try_take(&self, whose: Option<&str>) -> Result<Permit, NoPermit> {
        let all = self.all.clone().try_acquire_owned().map_err(|_| NoPermit::AllTaken)?;
        let own = whose.map(|whose| self.of(whose).try_acquire_owned()).transpose();
        Ok(Permit { _all: all, _own: own.map_err(|_| NoPermit::HasHalf)? })
    }

    /// Waits until nobody has one.
    pub(super) async fn wait_until_free(&self) {
        self.all.acquire_many(self.most).await.map(drop).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::{NoPermit, Permits};

    #[test]
    fn nobody_has_more_than_half() {
        let permits = Permits::new(3);
        let one = permits.try_take(Some("one")).unwrap();
        let _two = permits.try_take(Some("one")).unwrap();
        assert_eq!(permits.try_take(Some("one")).unwrap_err(), NoPermit::HasHalf);
        let other = permits.try_take(Some("other")).unwrap();
        assert_eq!(permits.try_take(Some("other")).unwrap_err(), NoPermit::AllTaken);
        drop(one);
        permits.try_take(Some("one")).unwrap();
        drop(other);
        permits.try_take(Some("third")).unwrap();
        let all: Vec<_> = (0..3).map_while(|_| permits.try_take(None).ok()).collect();
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn a_single_one_is_for_anyone() {
        let permits = Permits::new(1);
        let _one = permits.try_take(Some("one")).unwrap();
        assert_eq!(permits.try_take(Some("other")).unwrap_err(), NoPermit::AllTaken);
    }
}
