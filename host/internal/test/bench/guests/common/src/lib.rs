//! What the benchmark guests share: their exports, text to work on, and a
//! checksum that shows that the work was done.

/// Exports `prepare(n)`, which makes what to work on from a size, and `run()`,
/// which does the work once and returns a checksum of its result.
#[macro_export]
macro_rules! guest {
    ($input:ty, $prepare:path, $run:path) => {
        static INPUT: std::sync::OnceLock<$input> = std::sync::OnceLock::new();

        #[unsafe(no_mangle)]
        pub extern "C" fn prepare(n: u32) {
            assert!(INPUT.set($prepare(n as usize)).is_ok(), "prepared twice");
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn run() -> u32 {
            $run(INPUT.get().expect("not prepared"))
        }
    };
}

/// Numbers without a pattern, the same in every run.
pub struct Numbers(u32);

impl Default for Numbers {
    fn default() -> Self {
        Self(0x9e37_79b9)
    }
}

impl Numbers {
    /// A number below `n`, by Marsaglia's xorshift.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize % n
    }
}

const WORDS: [&str; 24] = [
    "func", "return", "the", "error", "context", "plugin", "value", "Reader", "if", "err", "nil", "for", "range",
    "close", "memory", "Writer", "host", "of", "a", "module", "string", "offset", "Module", "len",
];

/// At least `n` bytes of words, in lines of about 40 bytes as source code has.
pub fn text(n: usize) -> String {
    let (mut numbers, mut text) = (Numbers::default(), String::with_capacity(n + 128));
    while text.len() < n {
        for _ in 0..4 + numbers.below(8) {
            text.push_str(WORDS[numbers.below(WORDS.len())]);
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// A checksum of the ends and of every 61st byte: what it costs must not drown
/// what is measured.
pub fn checksum(bytes: &[u8]) -> u32 {
    let seed = 0x811c_9dc5 ^ bytes.len() as u32;
    let picked = bytes.iter().step_by(61).chain(bytes.last());
    picked.fold(seed, |sum, b| (sum ^ u32::from(*b)).wrapping_mul(0x0100_0193))
}
