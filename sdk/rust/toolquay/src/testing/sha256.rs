//! SHA-256, for the hashes that the testing host answers: a dependency less for
//! those who test their tools.

use std::fmt::Write;

/// The SHA-256 in hexadecimal.
pub fn hex(content: &[u8]) -> String {
    let mut padded = content.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if content.len() % 64 > 55 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(content.len() as u64 * 8).to_be_bytes());
    let mut state = square_roots();
    let constants = cube_roots();
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    state.iter().fold(String::new(), |mut text, word| {
        let _ = write!(text, "{word:08x}");
        text
    })
}

/// The first primes: there are 64 below 312.
fn primes() -> impl Iterator<Item = u128> {
    (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// The first 32 bits of the fractions of the square roots of the first 8 primes.
fn square_roots() -> [u32; 8] {
    let mut primes = primes();
    std::array::from_fn(|_| fraction(primes.next().unwrap_or_default(), 2))
}

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
fn cube_roots() -> [u32; 64] {
    let mut primes = primes();
    std::array::from_fn(|_| fraction(primes.next().unwrap_or_default(), 3))
}

/// The first 32 bits of the fraction of a number's root, by halving the interval that
/// the root times 2^32 lies in.
fn fraction(number: u128, degree: u32) -> u32 {
    let target = number << (32 * degree);
    let (mut low, mut high) = (0u128, 1 << 40);
    while high - low > 1 {
        let middle = u128::midpoint(low, high);
        if middle.pow(degree) <= target { low = middle } else { high = middle }
    }
    low as u32
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for i in 16..64 {
        let (a, b) = (words[i - 15], words[i - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        words[i] = words[i - 16].wrapping_add(small).wrapping_add(words[i - 7]).wrapping_add(large);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    /// The examples of FIPS 180-4, and lengths around the end of a block.
    #[test]
    fn hashes() {
        for (content, want) in [
            (String::new(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc".into(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".into(),
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            ("a".repeat(55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            ("a".repeat(64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        ] {
            assert_eq!(hex(content.as_bytes()), want, "{content}");
        }
    }
}
