//! Timers expire when they are set to, on every system.

use referee_process::poll_on_wake::PollOnWake;
use referee_process::timers::{Alarm, Ticker};
use std::future::poll_fn;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(600);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Waits for an alarm as a match does.
async fn expired(alarm: &mut PollOnWake<Alarm>) {
    poll_fn(|context| alarm.poll(context, Alarm::poll_expired)).await;
}

#[test]
fn an_alarm_expires_at_the_time_that_was_set_last() {
    block_on(async {
        let began = Instant::now();
        let mut alarm = PollOnWake::new(Alarm::new().unwrap());
        for (earlier, at) in [(LONG, SHORT), (SHORT, 2 * SHORT), (LONG, Duration::ZERO)] {
            let began = Instant::now();
            alarm.source.set(began + earlier);
            timeout(Duration::ZERO, expired(&mut alarm)).await.ok();
            alarm.source.set(began + at);
            expired(&mut alarm).await;
            assert!(began.elapsed() >= at);
        }
        // One that has expired unseen is set again.
        alarm.source.set(Instant::now());
        std::thread::sleep(SHORT);
        alarm.source.set(Instant::now() + LONG);
        assert!(timeout(SHORT, expired(&mut alarm)).await.is_err());
        alarm.source.set(began);
        expired(&mut alarm).await;
    });
}

#[test]
fn a_ticker_expires_again_and_again() {
    block_on(async {
        let began = Instant::now();
        let mut ticker = Ticker::new(SHORT).unwrap();
        for times in 1..4 {
            ticker.tick().await.unwrap();
            assert!(began.elapsed() >= times * SHORT);
        }
    });
}
