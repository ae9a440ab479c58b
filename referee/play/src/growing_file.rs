//! Reading a file to which others append lines: what was added since the last read.

use referee_match::transcript::unpack;
use referee_process::files::open_regular;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that is read as it grows: whole lines, each once. A packed file is unpacked from the start each
/// time it has changed.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    /// Stays open when the file is removed or replaced. `None` while there is no file.
    file: Option<File>,
    /// The maximum size, unpacked, in bytes.
    most: usize,
    /// How many bytes have been read, unpacked.
    offset: u64,
    /// The size of the file at the last read.
    length: u64,
    /// Whether the last read was cut by its limit.
    has_more: bool,
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum GrowingError {
    /// It exceeds the maximum size.
    #[error("the file is too large")]
    TooLong,
    /// A system error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl GrowingFile {
    /// Follows a file that may not exist yet, of any size.
    pub fn new(path: PathBuf) -> Self {
        let file = open_regular(&path, u64::MAX).ok();
        Self { path, file, most: usize::MAX, offset: 0, length: 0, has_more: false }
    }

    /// Follows an open file with this name and a maximum size, unpacked.
    pub fn of(file: File, path: PathBuf, most: usize) -> Self {
        Self { path, file: Some(file), most, offset: 0, length: 0, has_more: false }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many bytes have been read, unpacked.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether there may be more than the last read returned.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Moves back to an earlier offset.
    pub fn rewind(&mut self, offset: u64) {
        (self.offset, self.length) = (self.offset.min(offset), 0);
    }

    /// Returns when it was last modified; `None` while there is no file.
    pub fn modified(&self) -> Option<SystemTime> {
        self.file.as_ref()?.metadata().ok()?.modified().ok()
    }

    /// Returns the whole lines that were appended. Of a plain file at most `most` bytes at once, or that
    /// much of a longer line. A line without an end stays unread, even if its writer was killed.
    pub fn read_on(&mut self, most: usize) -> Result<Vec<u8>, GrowingError> {
        if self.file.is_none() {
            self.file = open_regular(&self.path, u64::MAX).ok();
        }
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        let length = file.metadata()?.len();
        if length > self.most as u64 {
            return Err(GrowingError::TooLong);
        }
        let packed = is_packed(&self.path);
        self.has_more = false;
        if length < self.length || (packed && length == self.length) {
            return Ok(Vec::new());
        }
        self.length = length;
        let begin = if packed { 0 } else { self.offset };
        let room = if packed { length } else { length.saturating_sub(begin).min(most as u64) };
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(room).read_to_end(&mut bytes)?;
        if packed {
            let all = unpack(&bytes, self.most).ok_or(GrowingError::TooLong)?;
            let known = usize::try_from(self.offset).unwrap_or(usize::MAX);
            bytes = all.get(known..).unwrap_or_default().to_vec();
        }
        self.has_more = !packed && bytes.len() == most;
        match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => bytes.truncate(end + 1),
            None if self.has_more => {}
            None => bytes.clear(),
        }
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }

    /// Whether it was replaced: it is shorter than before, or another file has its name now.
    pub fn is_replaced(&self) -> bool {
        let same =
            |own: &Metadata, named: &Metadata| (own.dev(), own.ino()) == (named.dev(), named.ino());
        let Some(Ok(own)) = self.file.as_ref().map(File::metadata) else { return false };
        own.len() < self.length || self.path.metadata().is_ok_and(|named| !same(&own, &named))
    }
}

/// Whether a transcript of this name is packed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

#[cfg(test)]
mod tests {
    use super::{GrowingError, GrowingFile};
    use flate2::write::GzEncoder;
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
    use std::fs::{self, File};
    use std::io::Write;

    /// All lines that are there now.
    fn read(file: &mut GrowingFile, most: usize) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            match file.read_on(most).unwrap() {
                bytes if bytes.is_empty() => return all,
                bytes => all.extend(bytes),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn every_line_is_read_once_and_whole(
            pieces in proptest::collection::vec("[ab\n]{0,20}", 0..20),
            most in 8_usize..40,
            packed in any::<bool>(),
        ) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(if packed { "x.jsonl.gz" } else { "x.jsonl" });
            let mut growing = GrowingFile::new(path.clone());
            prop_assert!(growing.read_on(most).unwrap().is_empty(), "there is no file yet");
            let (mut written, mut seen) = (String::new(), Vec::new());
            for piece in pieces {
                written.push_str(&piece);
                let mut bytes = written.clone().into_bytes();
                if packed {
                    let mut zip = GzEncoder::new(Vec::new(), flate2::Compression::none());
                    zip.write_all(&bytes).unwrap();
                    bytes = zip.finish().unwrap();
                    // In place: it stays the same file.
                    fs::write(&path, &bytes).unwrap();
                } else {
                    let mut file = File::options().create(true).append(true).open(&path).unwrap();
                    file.write_all(piece.as_bytes()).unwrap();
                }
                let new = read(&mut growing, most);
                // Of a line that is longer than `most`, as much at once may be read before its end.
                let tail = new.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
                let is_whole = tail.len().is_multiple_of(most);
                prop_assert!(is_whole || seen.len() + new.len() < written.len(), "{:?}", new);
                seen.extend(new);
                prop_assert!(!growing.is_replaced());
            }
            let whole = written.rfind('\n').map_or(0, |end| end + 1);
            // Only a line that is longer than all that is read at once comes before its end.
            prop_assert!(seen.len() >= whole && written.as_bytes().starts_with(&seen));
            if seen.len() > whole {
                prop_assert!(!packed && written.len() - whole >= most);
            }
            growing.rewind(0);
            prop_assert_eq!(read(&mut growing, most).len(), seen.len());
        }
    }

    #[test]
    fn a_truncated_or_renamed_file_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let [path, other] = ["x", "y"].map(|name| place.path().join(name));
        for begin_anew in [
            |path: &std::path::Path, _: &std::path::Path| fs::write(path, "a\n").unwrap(),
            |path: &std::path::Path, other: &std::path::Path| {
                fs::write(other, "one\nmore\n").unwrap();
                fs::rename(other, path).unwrap();
            },
        ] {
            fs::write(&path, "one\ntwo\nrest").unwrap();
            let mut growing = GrowingFile::new(path.clone());
            assert_eq!(read(&mut growing, 100), b"one\ntwo\n");
            assert!(!growing.is_replaced() && growing.modified().is_some());
            begin_anew(&path, &other);
            assert!(growing.read_on(100).unwrap().is_empty(), "nothing of another file");
            assert!(growing.is_replaced());
        }
        // A removed file is read to its end.
        fs::write(&path, "one\n").unwrap();
        let mut growing = GrowingFile::new(path.clone());
        fs::remove_file(&path).unwrap();
        assert!(!growing.is_replaced());
        assert_eq!(read(&mut growing, 100), b"one\n");
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        for name in ["x.jsonl", "x.jsonl.gz"] {
            let path = place.path().join(name);
            let mut bytes = b"one\n".repeat(1000);
            if name.ends_with("gz") {
                let mut zip = GzEncoder::new(Vec::new(), flate2::Compression::best());
                zip.write_all(&bytes).unwrap();
                bytes = zip.finish().unwrap();
            }
            fs::write(&path, bytes).unwrap();
            let mut growing = GrowingFile::of(File::open(&path).unwrap(), path, 3999);
            assert!(matches!(growing.read_on(10), Err(GrowingError::TooLong)), "{name}");
        }
    }
}
