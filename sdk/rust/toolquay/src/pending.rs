//! Capability calls under way and their answers.

use std::io::{self, Read};
use std::marker::PhantomData;
use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};
use crate::frame::{self, HEADER_SIZE, PART_HEADER_SIZE};
use crate::host;
use crate::json::Object;
use crate::wire::AnswerHead;

/// A capability call's handle, given up when dropped.
#[derive(Debug)]
struct Handle(u32);

impl Handle {
    fn read_exact(&self, mut room: &mut [u8]) -> Result<(), ToolError> {
        while !room.is_empty() {
            match usize::try_from(host::read(self.0, room)) {
                Ok(0) => {
                    return Err(ToolError::new(ErrorCode::Protocol, "the host's answer ended before its head did"));
                }
                Ok(n) => room = room.get_mut(n..).unwrap_or_default(),
                Err(_) => return Err(ToolError::new(ErrorCode::Io, "the host's answer broke off")),
            }
        }
        Ok(())
    }

    fn into_id(self) -> u32 {
        let id = self.0;
        std::mem::forget(self);
        id
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        host::cancel(self.0);
    }
}

/// A capability call that was started. Dropping it gives the call up.
#[derive(Debug)]
#[must_use = "dropping it gives the call up"]
pub struct Pending<T> {
    handle: Handle,
    answer: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Pending<T> {
    pub(crate) fn submit(message: &[u8]) -> Self {
        Self { handle: Handle(host::submit(message)), answer: PhantomData }
    }

    /// Waits for the answer. Only its head is read; the body stays with the
    /// host until it is asked for.
    ///
    /// # Errors
    ///
    /// What the host answered instead, with its code.
    pub fn wait(self) -> Result<Answer<T>, ToolError> {
        let mut header = [0; HEADER_SIZE];
        self.handle.read_exact(&mut header)?;
        let mut head = vec![0; frame::head_length(header)?];
        self.handle.read_exact(&mut head)?;
        Ok(Answer { ok: decode_head(&head)?, body: Body { handle: self.handle, state: State::Unread } })
    }
}

/// Reads the head of an answer: what it says, or the failure it tells of.
pub fn decode_head<T: DeserializeOwned>(head: &[u8]) -> Result<T, ToolError> {
    let broken = |what: String| ToolError::new(ErrorCode::Protocol, format!("the host's answer {what}"));
    let Object(head): Object<AnswerHead<T>> =
        serde_json::from_slice(head).map_err(|err| broken(format!("has a broken head: {err}")))?;
    match (head.ok, head.error) {
        (Some(Object(ok)), None) => Ok(ok),
        (None, Some(Object(error))) => Err(error),
        (Some(_), Some(_)) => Err(broken("is both an answer and an error".to_owned())),
        (None, None) => Err(broken("is neither an answer nor an error".to_owned())),
    }
}

/// A capability call of whatever kind, for [`wait_any`].
pub trait AnyPending: sealed::Sealed {
    #[doc(hidden)]
    fn id(&self) -> u32;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Pending<T> {}
}

impl<T> AnyPending for Pending<T> {
    fn id(&self) -> u32 {
        self.handle.0
    }
}

/// Blocks until one of the calls is answered and returns its index; `None`
/// where there are none. At most the first 1,024 are waited for.
///
/// ```no_run
/// # use toolquay::{Context, ToolError, capability::fs::StatArgs, wait_any};
/// # fn newest(cx: &mut Context, paths: Vec<String>) -> Result<(), ToolError> {
/// let mut pending: Vec<_> = paths.iter().map(|path| cx.submit(&StatArgs { path, ..StatArgs::default() })).collect();
/// while let Some(index) = wait_any(&pending) {
///     let stat = pending.swap_remove(index).wait()?;
///     cx.info(&format!("{} has {} bytes", stat.ok.path, stat.ok.size));
/// }
/// # Ok(()) }
/// ```
pub fn wait_any<'a, P>(pending: impl IntoIterator<Item = &'a P>) -> Option<usize>
where
    P: AnyPending + ?Sized + 'a,
{
    let ids: Vec<u32> = pending.into_iter().take(host::MAX_WAIT).map(AnyPending::id).collect();
    (!ids.is_empty()).then(|| host::wait(&ids))
}

/// What a capability call came to.
#[derive(Debug)]
pub struct Answer<T> {
    /// The answer's head.
    pub ok: T,
    /// Its bulk, still with the host.
    pub body: Body,
}

/// The bulk of an answer, which stays with the host until it is read.
///
/// Read it in pieces, or put it into the [`Output`](crate::Output) unread: then
/// it never enters the guest, whatever its size. What was read before is left
/// out of what is put into the output.
#[derive(Debug)]
pub struct Body {
    handle: Handle,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing is read, not even the part's header.
    Unread,
    /// So many bytes are left, or an unknown number.
    Left(Option<u32>),
}

impl Body {
    /// Reads what is left as text.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotText`] where it is not UTF-8, [`ErrorCode::Io`] where the
    /// answer breaks off.
    pub fn into_string(self) -> Result<String, ToolError> {
        let bytes = self.into_bytes()?;
        String::from_utf8(bytes).map_err(|_| ToolError::new(ErrorCode::NotText, "the content is not UTF-8 text"))
    }

    /// Reads what is left.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Io`] where the answer breaks off.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, ToolError> {
        let mut bytes = Vec::new();
        if let State::Left(Some(size)) = self.start()? {
            // A claim of the host's, so not believed beyond what is harmless.
            bytes.reserve_exact(size.min(1 << 24) as usize);
        }
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// What is left, to be put into the output in several pieces.
    #[must_use]
    pub fn into_pieces(self) -> Pieces {
        Pieces(Rc::new(self.handle))
    }

    /// The handle, for a result to name, unless nothing is left: the host frees a
    /// handle that was read to its end.
    pub(crate) fn into_id(self) -> Option<u32> {
        match self.state {
            State::Left(Some(0)) => None,
            State::Unread | State::Left(_) => Some(self.handle.into_id()),
        }
    }

    /// Reads the part's header, if that was not done, and says what is left.
    fn start(&mut self) -> io::Result<State> {
        if let State::Unread = self.state {
            let mut header = [0; PART_HEADER_SIZE];
            let first = self.some(&mut header)?;
            self.state = State::Left(Some(0));
            if first > 0 {
                self.handle.read_exact(&mut header[first..]).map_err(io::Error::other)?;
                let (_, length) = frame::part_length(header).map_err(io::Error::other)?;
                self.state = State::Left(length);
            }
        }
        Ok(self.state)
    }

    fn some(&mut self, room: &mut [u8]) -> io::Result<usize> {
        usize::try_from(host::read(self.handle.0, room)).map_err(|_| {
            self.state = State::Left(Some(0));
            io::Error::new(io::ErrorKind::UnexpectedEof, "the host's answer broke off")
        })
    }
}

impl Read for Body {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        match self.start()? {
            State::Unread | State::Left(Some(0)) => Ok(0),
            State::Left(Some(left)) => {
                let most = room.len().min(left as usize);
                let n = self.some(&mut room[..most])?;
                if n == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.state = State::Left(Some(left - n as u32));
                Ok(n)
            }
            State::Left(None) => {
                let n = self.some(room)?;
                if n == 0 {
                    self.state = State::Left(Some(0));
                }
                Ok(n)
            }
        }
    }
}

/// What is left of an answer, put into the [`Output`](crate::Output) in pieces: so one
/// answer becomes several blocks, none of which enters the guest.
///
/// ```no_run
/// # use toolquay::{Context, Output, ToolError};
/// # fn show(cx: &mut Context) -> Result<Output, ToolError> {
/// let mut pieces = cx.fs().read("two-pictures")?.body.into_pieces();
/// Ok(Output::new().image("image/png", pieces.take(1_000)).image("image/png", pieces.take(2_000)))
/// # }
/// ```
#[derive(Debug)]
pub struct Pieces(Rc<Handle>);

impl Pieces {
    /// The next bytes, so many of them, or fewer where there are no more. Pieces take
    /// theirs in the order in which they stand in the output; one that is not put
    /// there leaves its own to the others.
    #[must_use]
    pub fn take(&mut self, size: u64) -> Piece {
        Piece { handle: Rc::clone(&self.0), size }
    }
}

/// Some bytes of an answer, taken from [`Pieces`].
#[derive(Debug)]
pub struct Piece {
    handle: Rc<Handle>,
    size: u64,
}

impl Piece {
    /// The handle and how many of its bytes are meant, for a result to name; nothing
    /// where they are none.
    pub(crate) fn into_source(self) -> Option<(u32, u64)> {
        let named = (self.handle.0, self.size);
        if self.size == 0 {
            return None;
        }
        // The result names the handle, so it is not given up any more.
        std::mem::forget(self.handle);
        Some(named)
    }
}
