//! The results of a course as they were at a time, which is all that the public sees from then on.

use super::{Course, UPLOADS_FOLDER, give};
use crate::folder::{Folder, STORE_FILE, TEAMS_FOLDER};
use crate::store::Store;
use crate::writer::disk_failure;
use jiff::Timestamp;
use referee_process::Failure;
use referee_process::lock::lock;
use std::{fs, io};

impl Course {
    /// From when on the public sees no newer results.
    pub fn freezes(&self) -> Option<Timestamp> {
        self.times().freeze_at
    }

    /// Whether that time has come.
    pub fn is_frozen(&self, now: Timestamp) -> bool {
        self.freezes().is_some_and(|freeze| now >= freeze)
    }

    /// Returns a folder with a copy of the results then, if that time has come. It is made by the first call.
    pub fn frozen(&self, now: Timestamp) -> Result<Option<Folder>, Failure> {
        let Some(freeze) = self.freezes().filter(|freeze| now >= *freeze) else { return Ok(None) };
        let teams = self.folder.path(TEAMS_FOLDER);
        let place = teams.join(format!("frozen-{}", freeze.as_second()));
        let _one = lock(&self.freezing);
        if !place.exists() {
            let failed = |error: io::Error| disk_failure(&place, &error);
            // What is left here by a kill is removed with the uploads that are not complete.
            let above = teams.join(UPLOADS_FOLDER);
            let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above).map_err(failed)?;
            Store::open_to_read(&self.folder)?.copy_to(&new.path().join(STORE_FILE))?;
            give(new.path()).map_err(failed)?;
            fs::rename(new.path(), &place).map_err(failed)?;
        }
        Folder::open(&place).map(Some)
    }
}
