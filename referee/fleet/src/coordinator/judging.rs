//! Reports that are looked at, some at once. Whatever goes wrong with that is told as something that is
//! wrong with the report: nobody waits for it for ever.

use super::judge::{Finding, Judged, broken};
use crate::Report;
use std::collections::BTreeMap;
use tokio::task::{Id, JoinSet};

/// Reports that are being looked at.
#[derive(Debug, Default)]
pub(super) struct Judging {
    tasks: JoinSet<Result<Finding, String>>,
    /// What each of them looks at, with its number in the stream.
    reports: BTreeMap<Id, (u64, Report)>,
}

impl Judging {
    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.tasks.len()
    }

    /// Begins with one.
    pub(super) fn begin(
        &mut self,
        number: u64,
        report: Report,
        finding: impl Future<Output = Result<Finding, String>> + Send + 'static,
    ) {
        let task = self.tasks.spawn(finding);
        self.reports.insert(task.id(), (number, report));
    }

    /// The next that was looked at; `None` where there is none. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<Judged> {
        loop {
            let (task, finding) = match self.tasks.join_next_with_id().await? {
                Ok(looked_at) => looked_at,
                Err(error) => (error.id(), Err(broken(&error))),
            };
            if let Some((number, report)) = self.reports.remove(&task) {
                return Some(Judged { number, report, finding });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Judging;
    use crate::Report;
    use crate::coordinator::judge::Finding;

    #[tokio::test]
    async fn a_panic_is_told_of_the_report_that_it_came_with() {
        let report = |block| Report {
            block,
            attempt: 3,
            worker: "w".to_owned(),
            tries: Vec::new(),
            fault: None,
        };
        let mut judging = Judging::default();
        judging.begin(1, report(7), async { panic!("a mistake") });
        judging.begin(2, report(8), async { Ok(Finding::default()) });
        assert_eq!(judging.count(), 2);
        let mut told = Vec::new();
        while let Some(judged) = judging.next().await {
            told.push((judged.number, judged.report.block, judged.finding.err()));
        }
        told.sort();
        assert_eq!((told[0].0, told[0].1), (1, 7));
        assert!(told[0].2.as_ref().unwrap().contains("a mistake"), "{told:?}");
        assert_eq!(told[1], (2, 8, None));
        assert_eq!(judging.count(), 0);
    }
}
