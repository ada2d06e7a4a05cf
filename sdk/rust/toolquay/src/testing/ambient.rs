//! `clock.now` and `random.bytes` of the testing host, the same in every run.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Reply;
use crate::capability::random::MAX_RANDOM;
use crate::error::ToolError;

/// What one call is told of time and chance.
#[derive(Clone, Debug)]
pub struct Clock {
    pub time: SystemTime,
    asked: Cell<i64>,
    drawn: Cell<u64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { time: UNIX_EPOCH + Duration::from_secs(1_700_000_000), asked: Cell::new(0), drawn: Cell::new(0) }
    }
}

impl Clock {
    pub fn now(&self) -> Reply {
        self.asked.set(self.asked.get() + 1);
        let ns = match self.time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
        };
        Reply::new(json!({"unix_ns": ns, "monotonic_ns": self.asked.get()}))
    }

    /// Bytes that look random.
    pub fn random(&self, args: &Value) -> Result<Reply, ToolError> {
        let length = args["length"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        if length == 0 || length > MAX_RANDOM {
            return Err(ToolError::invalid_input(format!("length is {length}; ask for 1 to {MAX_RANDOM} bytes")));
        }
        let next = || {
            let state =
                self.drawn.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.drawn.set(state);
            (state >> 56) as u8
        };
        let drawn: Vec<u8> = std::iter::repeat_with(next).take(length).collect();
        Ok(Reply::new(json!({"length": length})).with_body(drawn))
    }
}
