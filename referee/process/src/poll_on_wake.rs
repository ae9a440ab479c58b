//! Polling only what has woken its task.

use crate::lock::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// A source of events that is not polled again before it wakes its task. A task that polls several idle
/// sources at each event spends more time on that than on the event.
#[derive(Debug)]
pub struct PollOnWake<T> {
    /// The source.
    pub source: T,
    wakeup: Arc<Wakeup>,
    /// Wakes through `wakeup`.
    waker: Waker,
    /// The task, as in `wakeup`.
    task: Waker,
}

#[derive(Debug)]
struct Wakeup {
    woken: AtomicBool,
    task: Mutex<Waker>,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        lock(&self.task).wake_by_ref();
    }
}

impl<T> PollOnWake<T> {
    /// Wraps a source, which has not been polled.
    pub fn new(source: T) -> Self {
        let task = Waker::noop().clone();
        let wakeup =
            Arc::new(Wakeup { woken: AtomicBool::new(true), task: Mutex::new(task.clone()) });
        Self { source, waker: wakeup.clone().into(), wakeup, task }
    }

    /// Polls the source if it has woken the task since it was last pending. After `Ready` it is polled
    /// again.
    pub fn poll<R>(
        &mut self,
        context: &Context<'_>,
        poll: impl FnOnce(&mut T, &mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        if !self.task.will_wake(context.waker()) {
            self.task.clone_from(context.waker());
            lock(&self.wakeup.task).clone_from(context.waker());
        }
        // Mostly not; reading alone is cheaper.
        if !self.wakeup.woken.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        // Before it is polled, so that no later wake is missed.
        self.wakeup.woken.swap(false, Ordering::SeqCst);
        let polled = poll(&mut self.source, &mut Context::from_waker(&self.waker));
        if polled.is_ready() {
            self.wakeup.woken.store(true, Ordering::SeqCst);
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::PollOnWake;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn it_is_polled_again_only_after_ready_or_a_wake() {
        let context = Context::from_waker(Waker::noop());
        let mut wrapped = PollOnWake::new(None::<Waker>);
        let pend = |source: &mut Option<Waker>, context: &mut Context<'_>| {
            *source = Some(context.waker().clone());
            Poll::<()>::Pending
        };
        assert_eq!(wrapped.poll(&context, |_, _| Poll::Ready(1)), Poll::Ready(1));
        assert_eq!(wrapped.poll(&context, pend), Poll::Pending);
        assert_eq!(wrapped.poll(&context, |_, _| -> Poll<()> { unreachable!() }), Poll::Pending);
        wrapped.source.take().unwrap().wake();
        assert_eq!(wrapped.poll(&context, |_, _| Poll::Ready(2)), Poll::Ready(2));
    }
}
