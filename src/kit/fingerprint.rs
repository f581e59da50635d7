//! FNV-1a (Fowler, Noll & Vo 1991) of 64 bits: recognises equal data. Not secure against forgery.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// The fingerprint of bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    of_words(bytes.iter().map(|&byte| u64::from(byte)))
}

/// The fingerprint of whole words, each taken in at once.
pub(crate) fn of_words(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(BASIS, |hash, word| (hash ^ word).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_published_values() {
        // From the authors' test vectors.
        assert_eq!(of_bytes(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of_bytes(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of_bytes(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
