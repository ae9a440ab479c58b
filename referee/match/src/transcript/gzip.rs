//! Transcripts as gzip files: detected by their first bytes, unpacked in pieces.

use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind, Read};

/// The first bytes of a gzip file: the magic number, then the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The largest transcript that is read, unpacked, in bytes. Four agents that write as much as they may by default, in the
/// shortest messages that there are, don't fill it, nor do six with messages of 50 bytes.
pub const TRANSCRIPT_BYTES_MAX: usize = 256 << 20;
/// The longest line of a transcript that is read, in bytes: the longest line of an agent that a match may allow, each
/// byte escaped to six, and the rest of its event.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 8 << 20;
/// How many bytes are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// How a file ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// With its checksum, which matches, if it is packed.
    Whole,
    /// After more bytes than are read.
    TooLong,
    /// Before the end of the compressed data.
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

/// Reads a file, and unpacks it if it is packed, calling `piece` with every piece: at most `bytes_max` bytes.
pub(super) fn read_pieces(
    reader: impl BufRead,
    bytes_max: usize,
    mut piece: impl FnMut(&[u8]),
) -> io::Result<StreamEnd> {
    let (packed, mut reader) = open(reader)?;
    if !packed {
        return Ok(copy_pieces(&mut reader, bytes_max, piece)?.unwrap_or(StreamEnd::Whole));
    }
    let mut decoder = GzDecoder::new(reader);
    match copy_pieces(&mut decoder, bytes_max, &mut piece) {
        Ok(None) => {}
        Ok(Some(end)) => return Ok(end),
        Err(error) => match error.kind() {
            ErrorKind::UnexpectedEof => return Ok(StreamEnd::Cut),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                return Ok(StreamEnd::Damaged("it cannot be unpacked".to_owned()));
            }
            _ => return Err(error),
        },
    }
    let rest = io::copy(&mut decoder.into_inner(), &mut io::sink())?;
    Ok(match rest {
        0 => StreamEnd::Whole,
        rest => StreamEnd::Damaged(format!("{rest} bytes follow the compressed data")),
    })
}

/// Passes on all bytes, or says that there are too many.
fn copy_pieces(
    reader: &mut impl Read,
    bytes_max: usize,
    mut piece: impl FnMut(&[u8]),
) -> io::Result<Option<StreamEnd>> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut left = bytes_max;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(length) if length > left => return Ok(Some(StreamEnd::TooLong)),
            Ok(length) => {
                left -= length;
                piece(&buffer[..length]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
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

/// Returns the first bytes of a transcript, unpacked if it is packed: at most `bytes_max`.
pub fn unpack_start(reader: impl BufRead, bytes_max: u64) -> io::Result<Vec<u8>> {
    let (packed, reader) = open(reader)?;
    let mut start = Vec::new();
    if packed {
        // An error leaves what came before it.
        GzDecoder::new(reader).take(bytes_max).read_to_end(&mut start).ok();
    } else {
        reader.take(bytes_max).read_to_end(&mut start)?;
    }
    Ok(start)
}

/// Returns whether a file is packed, and all of it.
fn open(mut reader: impl BufRead) -> io::Result<(bool, impl BufRead)> {
    let mut start = Vec::new();
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let packed = is_packed(&start);
    Ok((packed, io::Cursor::new(start).chain(reader)))
}

#[cfg(test)]
mod tests {
    use super::{StreamEnd, read_pieces};
    use flate2::Compression;
    use flate2::bufread::GzEncoder;
    use std::io::Read;

    #[test]
    fn a_stream_without_end_is_too_long() {
        let lines = vec![b'\n'; 1 << 20];
        let mut packed = Vec::new();
        GzEncoder::new(&lines[..], Compression::fast()).read_to_end(&mut packed).unwrap();
        for file in [&packed, &lines] {
            for (bytes_max, wanted) in [
                (1 << 20, StreamEnd::Whole),
                ((1 << 20) - 1, StreamEnd::TooLong),
                (0, StreamEnd::TooLong),
            ] {
                let mut bytes = 0;
                let end = read_pieces(&file[..], bytes_max, |piece| bytes += piece.len());
                assert_eq!(end.unwrap(), wanted);
                assert!(bytes <= bytes_max);
            }
        }
    }
}
