//! The host's side of one call: handles, reports, what was asked.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::manifest::{Claim, Contract, Manifest};
use super::tree::below;
use super::{Files, Handler, Reads, Reply, Request, ambient, fs, search, write};
use crate::error::{ErrorCode, ToolError};
use crate::frame::{Frame, HEADER_SIZE, LENGTH_TO_END, PART_HEADER_SIZE, PartType, VERSION};

/// One call's way to the testing host.
pub struct Session {
    files: Rc<RefCell<Files>>,
    handlers: BTreeMap<String, Rc<Handler>>,
    tool: String,
    /// What the tool is held to; nothing where a test wants that.
    manifest: Option<Rc<Manifest>>,
    state: RefCell<State>,
    reads: RefCell<Reads>,
    clock: ambient::Clock,
}

#[derive(Default)]
struct State {
    last_id: u32,
    answers: BTreeMap<u32, Answer>,
    requests: Vec<Request>,
    reports: Vec<Value>,
    bytes_read: usize,
}

/// An answer's message and how much of it is read.
struct Answer {
    message: Vec<u8>,
    /// Where the body begins.
    body: usize,
    position: usize,
    /// Whether a result names it.
    passed_on: bool,
}

#[derive(Deserialize)]
struct RequestHead {
    capability: String,
    #[serde(default)]
    args: Value,
}

impl Session {
    pub fn new(files: Rc<RefCell<Files>>, handlers: BTreeMap<String, Rc<Handler>>) -> Self {
        Self {
            files,
            handlers,
            tool: String::new(),
            manifest: None,
            state: RefCell::default(),
            reads: RefCell::default(),
            clock: ambient::Clock::default(),
        }
    }

    /// Holds the tool that is called to a manifest.
    pub fn held(self, tool: &str, manifest: Option<Rc<Manifest>>, builtin: bool, clock: ambient::Clock) -> Self {
        let reads = RefCell::new(Reads { builtin, ..Reads::default() });
        Self { tool: tool.to_owned(), manifest, reads, clock, ..self }
    }

    /// Has the model know what the call's result has shown.
    pub fn settle(&self) {
        let mut files = self.files.borrow_mut();
        self.reads.borrow_mut().shown.drain(..).for_each(|glance| files.seen.shown(glance));
    }

    /// Refuses the message that the call returned, where it is over the limit.
    pub fn check_output(&self, length: usize) -> Result<(), ToolError> {
        self.manifest.as_ref().map_or(Ok(()), |manifest| manifest.check_output(length))
    }

    /// Holds a change of the working directory to the manifest.
    pub fn may_move(&self) -> Result<(), ToolError> {
        let Some((manifest, tool)) = self.contract() else { return Ok(()) };
        manifest.declares(tool, "session.cwd").map(drop)
    }

    fn contract(&self) -> Option<(&Manifest, &Contract)> {
        self.manifest.as_deref().map(|manifest| (manifest, manifest.tool(&self.tool)))
    }

    /// Holds a capability call to the manifest.
    fn permit(&self, capability: &str, made: usize) -> Result<Option<&Claim>, ToolError> {
        let Some((manifest, tool)) = self.contract() else { return Ok(None) };
        if made >= manifest.calls() {
            let most = manifest.calls();
            let message = format!("this call made more than its {most} capability calls (limit capability_calls)");
            return Err(ToolError::new(ErrorCode::Limit, message));
        }
        manifest.declares(tool, capability).map(Some)
    }

    /// Holds what a capability call touches to `read_only` and to the claim's scope.
    fn in_scope(&self, claim: Option<&Claim>, capability: &str, args: &Value) -> Result<(), ToolError> {
        let (Some(claim), Some((_, tool))) = (claim, self.contract()) else { return Ok(()) };
        let files = self.files.borrow();
        let path = files.tree.absolute(args["path"].as_str().unwrap_or_default());
        let write = matches!(capability, "fs.write" | "fs.replace");
        if write {
            tool.may_write(&path)?;
        }
        let searched = capability.starts_with("search.") && files.tree.is_directory(&path);
        let of_files = capability.starts_with("fs.") || capability.starts_with("search.");
        if !of_files || searched || claim.covers(files.tree.below(&path), write) {
            return Ok(());
        }
        Err(claim.refuse(&path, &tool.name))
    }

    pub fn submit(&self, message: &[u8]) -> u32 {
        let frame = Frame::decode(message).expect("a request that is a frame");
        let head: RequestHead = serde_json::from_slice(frame.head).expect("a request with a capability");
        // The host knows the length of what it answers itself; that of a test's own
        // answer is left open, so that both ways are gone.
        let length_known = !self.handlers.contains_key(&head.capability);
        let parts: Vec<_> = frame.parts.iter().map(|part| part.data.to_vec()).collect();
        let made = self.state.borrow().requests.len();
        let claim = self.permit(&head.capability, made);
        let reply = claim.and_then(|claim| self.answer(claim, &head.capability, &head.args, &parts));
        let answer = Answer::of(reply, length_known);
        let mut state = self.state.borrow_mut();
        state.requests.push(Request { capability: head.capability, args: head.args, parts });
        state.last_id += 1;
        let id = state.last_id;
        state.answers.insert(id, answer);
        id
    }

    fn answer(
        &self,
        claim: Option<&Claim>,
        capability: &str,
        args: &Value,
        parts: &[Vec<u8>],
    ) -> Result<Reply, ToolError> {
        if let Some(handler) = self.handlers.get(capability) {
            return handler(args);
        }
        self.in_scope(claim, capability, args)?;
        let (mut files, mut call) = (self.files.borrow_mut(), self.reads.borrow_mut());
        let cwd = files.tree.cwd().to_owned();
        let keep = |path: &str| claim.is_none_or(|claim| claim.covers(below(path, &cwd), false));
        match capability {
            "fs.read" => fs::read(&mut files, &mut call, args),
            "fs.stat" => fs::stat(&files.tree, args),
            "fs.list" => fs::list(&files.tree, args),
            "fs.write" => write::write(&mut files, &mut call, args, parts),
            "fs.replace" => write::replace(&mut files, &mut call, args, parts),
            "search.names" => search::names(&files.tree, &keep, args),
            "search.contents" => search::contents(&files.tree, &keep, args),
            "clock.now" => Ok(self.clock.now()),
            "random.bytes" => self.clock.random(args),
            other => Err(ToolError::new(
                ErrorCode::Unsupported,
                format!("the testing host does not know {other}; answer it with Host::on"),
            )),
        }
    }

    pub fn read(&self, id: u32, room: &mut [u8]) -> i32 {
        let mut state = self.state.borrow_mut();
        let answer = state.answers.get_mut(&id).expect("a read of a handle that is there");
        let n = room.len().min(answer.message.len() - answer.position);
        room[..n].copy_from_slice(&answer.message[answer.position..answer.position + n]);
        let body_before = answer.position.max(answer.body);
        answer.position += n;
        let of_body = answer.position.max(answer.body) - body_before;
        state.bytes_read += of_body;
        if n == 0 && !room.is_empty() {
            state.answers.remove(&id);
        }
        i32::try_from(n).expect("a read of less than 2 GiB")
    }

    /// As the host, this takes no notice of a handle that is freed already.
    pub fn cancel(&self, id: u32) {
        let mut state = self.state.borrow_mut();
        assert!(id != 0 && id <= state.last_id, "a cancel of a handle that was never given");
        state.answers.remove(&id);
    }

    pub fn wait(&self, ids: &[u32]) -> usize {
        let state = self.state.borrow();
        assert!(ids.iter().all(|id| state.answers.contains_key(id)), "a wait for handles that are there");
        0
    }

    pub fn progress(&self, message: &[u8]) {
        let frame = Frame::decode(message).expect("a report that is a frame");
        let head = serde_json::from_slice(frame.head).expect("a report of JSON");
        self.state.borrow_mut().reports.push(head);
    }

    /// Takes what the guest left unread of an answer's body, or of that so many bytes;
    /// 0 is all.
    pub fn take(&self, id: u32, length: u64) -> Vec<u8> {
        let mut state = self.state.borrow_mut();
        let answer = state.answers.get_mut(&id).expect("a result that names a handle that is there");
        let rest = &answer.message[answer.position.max(answer.body)..];
        let most = usize::try_from(length).ok().filter(|most| *most > 0).unwrap_or(usize::MAX);
        let taken = rest[..rest.len().min(most)].to_vec();
        (answer.position, answer.passed_on) = (answer.position.max(answer.body) + taken.len(), true);
        if length == 0 {
            state.answers.remove(&id);
        }
        taken
    }

    /// The number of answers that were neither read to their end, nor passed on, nor
    /// given up.
    pub fn open(&self) -> usize {
        self.state.borrow().answers.values().filter(|answer| !answer.passed_on).count()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.borrow().requests.clone()
    }

    pub fn reports(&self) -> Vec<Value> {
        self.state.borrow().reports.clone()
    }

    pub fn bytes_read(&self) -> usize {
        self.state.borrow().bytes_read
    }
}

impl Answer {
    fn of(reply: Result<Reply, ToolError>, length_known: bool) -> Self {
        let (head, body) = match reply {
            Ok(reply) => (json!({"ok": reply.ok}), reply.body),
            Err(error) => (json!({"error": error}), None),
        };
        let head = head.to_string();
        let mut message = vec![VERSION, 0, 0, 0];
        message.extend(u32::try_from(head.len()).expect("a short head").to_le_bytes());
        message.extend(head.as_bytes());
        let mut start = HEADER_SIZE + head.len();
        if let Some(body) = body {
            let length = u32::try_from(body.len()).ok().filter(|_| length_known).unwrap_or(LENGTH_TO_END);
            message.extend([PartType::Bytes as u8, 0, 0, 0]);
            message.extend(length.to_le_bytes());
            message.extend(body);
            start += PART_HEADER_SIZE;
        }
        Self { message, body: start, position: 0, passed_on: false }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// A session with one capability call, whose handle is 1.
    fn session() -> Session {
        let session = Session::new(Rc::default(), BTreeMap::new());
        let request = br#"{"capability":"test.a","args":{}}"#;
        let message = Frame { head: request, parts: Vec::new() }.encode().expect("a frame");
        assert_eq!(session.submit(&message), 1);
        session
    }

    /// The table of the ABI: the states of a handle, and what wait, read and cancel do.
    #[test]
    fn handles_are_as_the_abi_has_them() {
        type Step = fn(&Session);
        let drain: Step = |session| while session.read(1, &mut [0; 64]) > 0 {};
        let begin: Step = |session| assert_eq!(session.read(1, &mut [0; 1]), 1);
        let cancel: Step = |session| session.cancel(1);
        let states: [(&str, u32, Step, bool, bool); 7] = [
            ("zero", 0, |_| {}, false, false),
            ("never given", 2, |_| {}, false, false),
            ("answered", 1, |_| {}, true, true),
            ("partly read", 1, begin, true, true),
            ("read to the end", 1, drain, false, true),
            ("cancelled", 1, cancel, false, true),
            ("cancelled twice", 1, |session| (session.cancel(1), session.cancel(1)).1, false, true),
        ];
        for (name, id, step, open, cancels) in states {
            let works = |operation: &dyn Fn(&Session)| {
                let session = session();
                step(&session);
                catch_unwind(AssertUnwindSafe(|| operation(&session))).is_ok()
            };
            assert_eq!(works(&|session| _ = session.wait(&[id])), open, "{name}, wait");
            assert_eq!(works(&|session| _ = session.read(id, &mut [0; 8])), open, "{name}, read");
            assert_eq!(works(&|session| session.cancel(id)), cancels, "{name}, cancel");
        }
    }
}
