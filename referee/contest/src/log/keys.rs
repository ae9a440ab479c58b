//! Ed25519 keys and signatures as text. Public keys are written as OpenSSH writes them, so that they can be
//! compared with `ssh-keygen -l`.

use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, Engine};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use referee_protocol::plain::to_hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The name of the algorithm in OpenSSH's keys.
const ALGORITHM: &str = "ssh-ed25519";

/// A private key.
#[derive(Clone)]
pub struct PrivateKey(SigningKey);

/// A public key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(VerifyingKey);

/// What is signed, so that no signature can be used for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A log of results up to a line.
    Checkpoint,
    /// A transcript that a worker reports.
    Report,
}

impl PrivateKey {
    /// Returns the key of 32 random bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// Reads a key as [`Self::to_hex`] writes it.
    pub fn from_hex(text: &str) -> Option<Self> {
        from_hex(text).map(|bytes| Self::from_bytes(&bytes))
    }

    /// Returns the key as text: secret.
    pub fn to_hex(&self) -> String {
        to_hex(self.0.as_bytes())
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a text; returns the signature in hex.
    pub fn sign(&self, purpose: Purpose, text: &str) -> String {
        to_hex(&self.0.sign(&message(purpose, text)).to_bytes())
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey of {}", self.public())
    }
}

impl PublicKey {
    /// Returns whether `signature` is this key's signature of a text.
    pub fn verifies(&self, purpose: Purpose, text: &str, signature: &str) -> bool {
        let signature = from_hex(signature).map(|bytes| Signature::from_bytes(&bytes));
        signature.is_some_and(|it| self.0.verify_strict(&message(purpose, text), &it).is_ok())
    }

    /// Returns a short text that only this key has, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.blob());
        format!("SHA256:{}", BASE64_STANDARD_NO_PAD.encode(digest))
    }

    /// The key in OpenSSH's format: the algorithm and the bytes, each after its length.
    fn blob(&self) -> Vec<u8> {
        let parts = [ALGORITHM.as_bytes(), self.0.as_bytes()];
        let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes();
        parts.iter().flat_map(|part| length(part).into_iter().chain(part.iter().copied())).collect()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM} {}", BASE64_STANDARD.encode(self.blob()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = &'static str;

    /// Reads the two words of a public key; a comment may follow.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_ascii_whitespace();
        let Some((ALGORITHM, encoded)) = words.next().zip(words.next()) else {
            return Err("a public key begins with `ssh-ed25519`");
        };
        let blob = BASE64_STANDARD.decode(encoded).map_err(|_| "the key is not base64")?;
        let bytes = blob.last_chunk::<32>().ok_or("the key is too short")?;
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| "these bytes are no key")?;
        let key = Self(key);
        if key.0.is_weak() || key.blob() != blob {
            return Err("these bytes are no key");
        }
        Ok(key)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

fn message(purpose: Purpose, text: &str) -> Vec<u8> {
    let purpose = match purpose {
        Purpose::Checkpoint => "checkpoint",
        Purpose::Report => "report",
    };
    format!("referee {purpose} 1\n{text}").into_bytes()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::{PrivateKey, PublicKey, Purpose};

    #[test]
    fn signatures_hold_for_one_text_key_and_purpose() {
        let key = PrivateKey::from_bytes(&[7; 32]);
        let public = key.public();
        let signature = key.sign(Purpose::Report, "a");
        assert!(public.verifies(Purpose::Report, "a", &signature));
        assert!(!public.verifies(Purpose::Report, "b", &signature));
        assert!(!public.verifies(Purpose::Checkpoint, "a", &signature));
        let other = PrivateKey::from_bytes(&[8; 32]).public();
        assert!(!other.verifies(Purpose::Report, "a", &signature));
        assert!(!public.verifies(Purpose::Report, "a", &signature[1..]));
        assert!(!public.verifies(Purpose::Report, "a", &signature.to_uppercase()));
        assert!(!public.verifies(Purpose::Report, "a", ""));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = PrivateKey::from_bytes(&[7; 32]);
        let again = PrivateKey::from_hex(&key.to_hex()).unwrap();
        assert_eq!(again.public(), key.public());
        // `ssh-keygen -l` prints this fingerprint for this key.
        let line =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
        assert_eq!(key.public().to_string(), line);
        assert_eq!(format!("{line} me@here").parse::<PublicKey>(), Ok(key.public()));
        assert_eq!(
            key.public().fingerprint(),
            "SHA256:z/fSv0Z0RZS+Lccbc6ZoOWwt/fbj1VFJGSBKQbo4icE"
        );
        for bad in ["", "ssh-ed25519", "ssh-rsa AAAA", "ssh-ed25519 AAAA", "ssh-ed25519 ????"] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
        assert!(!format!("{key:?}").contains(&key.to_hex()));
    }
}
