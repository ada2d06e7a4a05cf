//! The files of the testing host: some in memory, some in a real directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::capability::fs::{Entry, FileKind, StatOk};
use crate::error::{ErrorCode, ToolError};

/// A tree of files, by absolute path.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    cwd: String,
    /// Content and age: a file added later is newer.
    memory: BTreeMap<String, (Vec<u8>, i64)>,
    youngest: i64,
    real: Option<String>,
}

impl Tree {
    pub fn new(cwd: &str) -> Self {
        Self { cwd: cwd.to_owned(), ..Self::default() }
    }

    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    pub fn add(&mut self, path: &str, content: Vec<u8>) {
        self.youngest += 1;
        self.memory.insert(self.absolute(path), (content, self.youngest));
    }

    pub fn mount(&mut self, path: PathBuf) {
        self.cwd = fs::canonicalize(&path).unwrap_or(path).to_string_lossy().into_owned();
        self.real = Some(self.cwd.clone());
    }

    /// Makes a path absolute and clean; `..` goes by the text alone.
    pub fn absolute(&self, path: &str) -> String {
        let joined = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.cwd) };
        let mut names: Vec<&str> = Vec::new();
        for name in joined.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop();
                }
                name => names.push(name),
            }
        }
        format!("/{}", names.join("/"))
    }

    /// A path as answers show it: relative to the working directory, if below.
    pub fn shown(&self, path: &str) -> String {
        path.strip_prefix(&self.cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned()
    }

    /// A path below the working directory, empty for that itself.
    pub fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        below(path, &self.cwd)
    }

    pub fn is_directory(&self, path: &str) -> bool {
        self.stat(path).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    pub fn read(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        let stat = self.stat(path)?;
        match (stat.kind, self.memory.get(&stat.path)) {
            (FileKind::Directory, _) => {
                Err(ToolError::new(ErrorCode::IsDirectory, format!("{} is a directory", stat.path)))
            }
            (_, Some((content, _))) => Ok(content.clone()),
            (FileKind::File, None) => Ok(fs::read(&stat.path)?),
            _ => Err(ToolError::new(ErrorCode::NotRegular, format!("{} is not a regular file", stat.path))),
        }
    }

    pub fn stat(&self, path: &str) -> Result<StatOk, ToolError> {
        let path = self.absolute(path);
        if let Some((content, age)) = self.memory.get(&path) {
            return Ok(StatOk {
                path,
                kind: FileKind::File,
                size: content.len() as u64,
                mod_time: *age,
                hash: String::new(),
            });
        }
        if path == self.cwd || self.memory.keys().any(|file| is_below(file, &path)) {
            return Ok(StatOk { path, kind: FileKind::Directory, size: 0, mod_time: 0, hash: String::new() });
        }
        let missing = || ToolError::new(ErrorCode::NotFound, format!("{path} does not exist"));
        if !self.real.as_ref().is_some_and(|root| is_below(&path, root)) {
            return Err(missing());
        }
        let metadata = fs::metadata(&path).map_err(|_| missing())?;
        let (kind, mod_time) = (kind(metadata.file_type()), mod_time(&metadata));
        Ok(StatOk { path, kind, size: metadata.len(), mod_time, hash: String::new() })
    }

    pub fn list(&self, path: &str) -> Result<Vec<Entry>, ToolError> {
        let stat = self.stat(path)?;
        if stat.kind != FileKind::Directory {
            return Err(ToolError::new(ErrorCode::NotDirectory, format!("{} is not a directory", stat.path)));
        }
        let mut entries = self.real_entries(&stat.path)?;
        for (file, (content, age)) in self.memory.iter().filter(|(file, _)| is_below(file, &stat.path)) {
            let rest = file[stat.path.len()..].trim_start_matches('/');
            let (name, kind, size) = match rest.split_once('/') {
                Some((directory, _)) => (directory, FileKind::Directory, 0),
                None => (rest, FileKind::File, content.len() as u64),
            };
            entries.insert(name.to_owned(), Entry { name: name.to_owned(), kind, size, mod_time: *age });
        }
        Ok(entries.into_values().collect())
    }

    fn real_entries(&self, path: &str) -> Result<BTreeMap<String, Entry>, ToolError> {
        let below = self.real.as_ref().is_some_and(|root| path == root || is_below(path, root));
        let mut entries = BTreeMap::new();
        if !below {
            return Ok(entries);
        }
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (kind, mod_time) = (kind(metadata.file_type()), mod_time(&metadata));
            entries.insert(name.clone(), Entry { name, kind, size: metadata.len(), mod_time });
        }
        Ok(entries)
    }

    /// Every file at or below a path, with its age, sorted by path.
    pub fn files(&self, path: &str) -> Result<Vec<(String, i64)>, ToolError> {
        let stat = self.stat(path)?;
        if stat.kind == FileKind::File {
            return Ok(vec![(stat.path, stat.mod_time)]);
        }
        let mut files = Vec::new();
        for entry in self.list(&stat.path)? {
            let path = format!("{}/{}", stat.path.trim_end_matches('/'), entry.name);
            match entry.kind {
                FileKind::Directory => files.extend(self.files(&path)?),
                FileKind::File => files.push((path, entry.mod_time)),
                _ => {}
            }
        }
        Ok(files)
    }
}

/// What of a path lies below a directory, empty for that itself.
pub fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

fn kind(file_type: fs::FileType) -> FileKind {
    match file_type {
        t if t.is_file() => FileKind::File,
        t if t.is_dir() => FileKind::Directory,
        t if t.is_symlink() => FileKind::Symlink,
        _ => FileKind::Other,
    }
}

fn mod_time(metadata: &fs::Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default()
}
