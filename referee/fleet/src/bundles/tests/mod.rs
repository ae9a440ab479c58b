mod agents;
mod hostile;
mod kept;
mod round_trip;

use super::archive::Bounds;
use super::unpack::unpack;
use crate::{BundleRef, FaultCause, WorkerFault};
use flate2::write::GzEncoder;
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Small limits, so that tests that exceed them are quick.
const BOUNDS: Bounds = Bounds { bytes: 1 << 20, files: 100 };

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut zip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap()
}

/// Unpacks bytes as a bundle with this reference.
fn unpack_bytes(
    bytes: &[u8],
    unpacked_bytes: u64,
    into: &Path,
) -> Result<Vec<PathBuf>, WorkerFault> {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("bundle");
    std::fs::write(&file, bytes).unwrap();
    let sha256 = to_hex(&Sha256::digest(bytes));
    let bundle = BundleRef { sha256, bytes: bytes.len() as u64, unpacked_bytes };
    unpack(&file, &bundle, into, BOUNDS)
}

/// Returns why a bundle was rejected.
fn wrong(unpacked: Result<Vec<PathBuf>, WorkerFault>) -> String {
    let fault = unpacked.unwrap_err();
    assert_eq!(fault.cause, FaultCause::Bundle, "{fault:?}");
    fault.text
}
