//! Frames, the messages of the ABI: an 8-byte header, a JSON head, raw parts.
//!
//! Whoever writes a tool never needs this module; whoever writes another host
//! or SDK can read the format here.

use crate::error::{ErrorCode, ToolError};

/// The version of the ABI, the first byte of every frame.
pub const VERSION: u8 = 1;
/// The length of a frame's fixed header, in bytes.
pub const HEADER_SIZE: usize = 8;
/// The length of a part's fixed header, in bytes.
pub const PART_HEADER_SIZE: usize = 8;
/// The largest head, in bytes.
pub const MAX_HEAD: usize = 1 << 20;
/// The most parts of a frame.
pub const MAX_PARTS: usize = 4096;
/// The length of a part that goes on to the end of the message.
pub const LENGTH_TO_END: u32 = u32::MAX;

/// What a part's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartType {
    /// Opaque bytes.
    Bytes = 1,
    /// UTF-8 text.
    Text = 2,
    /// One JSON value.
    Json = 3,
}

impl TryFrom<u8> for PartType {
    type Error = ToolError;

    fn try_from(byte: u8) -> Result<Self, ToolError> {
        match byte {
            1 => Ok(Self::Bytes),
            2 => Ok(Self::Text),
            3 => Ok(Self::Json),
            other => Err(broken(format!("unknown part type {other}"))),
        }
    }
}

/// One raw piece of a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// What the bytes are.
    pub kind: PartType,
    /// The bytes.
    pub data: &'a [u8],
}

/// A whole message, its pieces borrowed from the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The head, JSON.
    pub head: &'a [u8],
    /// The parts.
    pub parts: Vec<Part<'a>>,
}

impl<'a> Frame<'a> {
    /// Reads a frame that is there as a whole.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Protocol`], where the bytes are no frame of this version.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, ToolError> {
        let (header, mut rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| broken(format!("frame of {} bytes is shorter than its header", bytes.len())))?;
        let length = head_length(*header)?;
        let head = take(&mut rest, length, "head")?;
        std::str::from_utf8(head).map_err(|_| broken("a head that is not UTF-8"))?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            if parts.len() == MAX_PARTS {
                return Err(broken(format!("frame has more than {MAX_PARTS} parts")));
            }
            parts.push(decode_part(&mut rest)?);
        }
        Ok(Self { head, parts })
    }

    /// Encodes the frame.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Protocol`], where a limit of the format is passed.
    pub fn encode(&self) -> Result<Vec<u8>, ToolError> {
        if self.head.len() > MAX_HEAD {
            return Err(broken(format!(
                "frame head of {} bytes is over the limit of {MAX_HEAD}; send bulk as a part",
                self.head.len()
            )));
        }
        if self.parts.len() > MAX_PARTS {
            return Err(broken(format!("frame of {} parts is over the limit of {MAX_PARTS}", self.parts.len())));
        }
        let size: usize = self.parts.iter().map(|part| PART_HEADER_SIZE + part.data.len()).sum();
        let mut out = Vec::with_capacity(HEADER_SIZE + self.head.len() + size);
        out.extend([VERSION, 0, 0, 0]);
        out.extend(length_of(self.head)?.to_le_bytes());
        out.extend(self.head);
        for part in &self.parts {
            out.extend([part.kind as u8, 0, 0, 0]);
            out.extend(length_of(part.data)?.to_le_bytes());
            out.extend(part.data);
        }
        Ok(out)
    }
}

/// Reads a frame's fixed header and returns the length of the head.
///
/// # Errors
///
/// [`ErrorCode::Protocol`], where this version does not know such a header.
pub fn head_length(header: [u8; HEADER_SIZE]) -> Result<usize, ToolError> {
    let [version, flags, low, high, length @ ..] = header;
    if version != VERSION {
        return Err(broken(format!("frame of version {version}; this SDK speaks version {VERSION}")));
    }
    if (flags, low, high) != (0, 0, 0) {
        return Err(broken(format!("frame header sets flags that version {VERSION} does not define")));
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_HEAD {
        return Err(broken(format!("frame head of {length} bytes is over the limit of {MAX_HEAD}")));
    }
    Ok(length)
}

/// Reads a part's fixed header and returns its type and its length, which is
/// `None` where it goes on to the end of the message.
///
/// # Errors
///
/// [`ErrorCode::Protocol`], where this version does not know such a header.
pub fn part_length(header: [u8; PART_HEADER_SIZE]) -> Result<(PartType, Option<u32>), ToolError> {
    let [kind, flags, low, high, length @ ..] = header;
    if (flags, low, high) != (0, 0, 0) {
        return Err(broken(format!("part header sets flags that version {VERSION} does not define")));
    }
    let length = u32::from_le_bytes(length);
    Ok((PartType::try_from(kind)?, (length != LENGTH_TO_END).then_some(length)))
}

fn decode_part<'a>(rest: &mut &'a [u8]) -> Result<Part<'a>, ToolError> {
    let (header, body) = rest
        .split_first_chunk()
        .ok_or_else(|| broken(format!("{} bytes are shorter than a part header", rest.len())))?;
    *rest = body;
    let (kind, length) = part_length(*header)?;
    let data = take(rest, length.map_or(body.len(), |length| length as usize), "part")?;
    if kind == PartType::Text && std::str::from_utf8(data).is_err() {
        return Err(broken("a text part that is not UTF-8"));
    }
    Ok(Part { kind, data })
}

fn take<'a>(rest: &mut &'a [u8], length: usize, what: &str) -> Result<&'a [u8], ToolError> {
    let (taken, left) = rest
        .split_at_checked(length)
        .ok_or_else(|| broken(format!("a {what} of {length} bytes, but only {} follow", rest.len())))?;
    *rest = left;
    Ok(taken)
}

fn length_of(data: &[u8]) -> Result<u32, ToolError> {
    u32::try_from(data.len())
        .ok()
        .filter(|length| *length != LENGTH_TO_END)
        .ok_or_else(|| broken(format!("{} bytes do not fit one part", data.len())))
}

fn broken(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::Protocol, message)
}
