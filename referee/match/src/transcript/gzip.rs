//! Transcripts as gzip files: detected by their first bytes, unpacked in pieces.

use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::{ErrorKind, Read as _};

/// The first bytes of a gzip file: the magic number, then the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The largest transcript that is read, unpacked, in bytes.
pub const TRANSCRIPT_BYTES_MAX: usize = 1 << 30;

/// How a compressed stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// With its checksum, which matches.
    Whole,
    /// Before its end.
    Cut,
    /// With damaged data.
    Damaged(String),
}

/// Whether the bytes are a gzip file, possibly with one wrong byte in the magic number: no transcript
/// begins with any two of these three.
pub fn is_packed(bytes: &[u8]) -> bool {
    let same = MAGIC.iter().zip(bytes).filter(|(wanted, byte)| wanted == byte).count();
    match bytes.len() {
        0 => false,
        1 => same == 1,
        _ => same >= 2,
    }
}

/// Unpacks a gzip file of one member, calling `piece` with every piece of what was packed: at most
/// `bytes_max` bytes, more are damage.
pub(super) fn unpack_pieces(
    bytes: &[u8],
    bytes_max: usize,
    mut piece: impl FnMut(&[u8]),
) -> StreamEnd {
    let mut decoder = GzDecoder::new(bytes);
    let mut buffer = vec![0; 64 * 1024];
    let mut left = bytes_max;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) if length > left => {
                return StreamEnd::Damaged(format!("it has more than {bytes_max} bytes"));
            }
            Ok(length) => {
                left -= length;
                piece(&buffer[..length]);
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return StreamEnd::Cut,
            Err(_) => return StreamEnd::Damaged("it cannot be unpacked".to_owned()),
        }
    }
    match decoder.into_inner() {
        [] => StreamEnd::Whole,
        rest => StreamEnd::Damaged(format!("{} bytes follow the compressed data", rest.len())),
    }
}

/// Returns the bytes of a transcript, unpacked if they are packed. What follows damage is missing, as
/// in a truncated file; [`verify`](super::verify) distinguishes the two. `None` if there are more than
/// `bytes_max`.
pub fn unpack(bytes: &[u8], bytes_max: usize) -> Option<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return (bytes.len() <= bytes_max).then_some(Cow::Borrowed(bytes));
    }
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut unpacked = Vec::new();
    // An error leaves what came before it.
    GzDecoder::new(bytes).take(most).read_to_end(&mut unpacked).ok();
    (unpacked.len() <= bytes_max).then_some(Cow::Owned(unpacked))
}

#[cfg(test)]
mod tests {
    use super::{StreamEnd, unpack_pieces};
    use flate2::Compression;
    use flate2::bufread::GzEncoder;
    use std::io::Read;

    #[test]
    fn a_stream_without_end_is_damaged() {
        let lines = vec![b'\n'; 1 << 20];
        let mut packed = Vec::new();
        GzEncoder::new(&lines[..], Compression::fast()).read_to_end(&mut packed).unwrap();
        for (bytes_max, whole) in [(1 << 20, true), ((1 << 20) - 1, false), (0, false)] {
            let mut bytes = 0;
            let end = unpack_pieces(&packed, bytes_max, |piece| bytes += piece.len());
            assert_eq!(end == StreamEnd::Whole, whole, "{end:?}");
            assert!(bytes <= bytes_max);
        }
    }
}
