//! Writes schemas as JSON text, at compile time or later.

use super::{Node, Property};

/// Writes a schema into `out`, as far as there is room, and returns the length
/// of the whole.
pub const fn render(node: &Node, out: &mut [u8]) -> usize {
    let mut writer = Writer { out, len: 0 };
    writer.node(node, "", &[]);
    writer.len
}

/// What the custom section `toolquay.tools` says of one tool.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Piece {
    pub name: &'static str,
    pub description: &'static str,
    pub input: Node,
    pub output: Option<Node>,
    /// Templates by the names that they have in the manifest.
    pub lines: &'static [(&'static str, &'static str)],
    pub classifier_text: &'static str,
}

impl Piece {
    /// Writes the piece into `out`, as far as there is room, and returns the
    /// length of the whole. It refuses, at compile time, a schema whose root is
    /// no object.
    #[must_use]
    pub const fn render(&self, out: &mut [u8]) -> usize {
        let mut writer = Writer { out, len: 0 };
        writer.raw("{\"name\":");
        writer.quoted(self.name);
        if !self.description.is_empty() {
            writer.raw(",\"description\":");
            writer.quoted(self.description);
        }
        writer.raw(",\"input_schema\":");
        writer.root(&self.input);
        if let Some(output) = &self.output {
            writer.raw(",\"output_schema\":");
            writer.root(output);
        }
        writer.lines(self.lines);
        if !self.classifier_text.is_empty() {
            writer.raw(",\"classifier_text\":");
            writer.quoted(self.classifier_text);
        }
        writer.raw("}\n");
        writer.len
    }
}

/// Writes JSON at compile time: loops and no iterators, since those are not
/// constant. It counts what has no room.
struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    const fn byte(&mut self, byte: u8) {
        if self.len < self.out.len() {
            self.out[self.len] = byte;
        }
        self.len += 1;
    }

    const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    const fn lines(&mut self, lines: &[(&str, &str)]) {
        let mut i = 0;
        while i < lines.len() {
            self.raw(if i == 0 { ",\"lines\":{" } else { "," });
            self.quoted(lines[i].0);
            self.raw(":");
            self.quoted(lines[i].1);
            i += 1;
        }
        if !lines.is_empty() {
            self.raw("}");
        }
    }

    const fn quoted(&mut self, text: &str) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let bytes = text.as_bytes();
        self.byte(b'"');
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'"' => self.raw("\\\""),
                b'\\' => self.raw("\\\\"),
                b'\n' => self.raw("\\n"),
                b'\t' => self.raw("\\t"),
                control if control < 0x20 => {
                    self.raw("\\u00");
                    self.byte(HEX[(control >> 4) as usize]);
                    self.byte(HEX[(control & 15) as usize]);
                }
                byte => self.byte(byte),
            }
            i += 1;
        }
        self.byte(b'"');
    }

    const fn root(&mut self, node: &Node) {
        assert!(matches!(node, Node::Object(_)), "the input and output of a tool are structs with named fields");
        self.node(node, "", &[]);
    }

    const fn node(&mut self, node: &Node, description: &str, keywords: &[(&str, &str)]) {
        self.byte(b'{');
        let start = self.len;
        if !description.is_empty() {
            self.key("description", start);
            self.quoted(description);
        }
        match node {
            Node::Any => {}
            Node::Boolean => self.kind("boolean", start),
            Node::Number => self.kind("number", start),
            Node::String => self.kind("string", start),
            Node::Integer { minimum, maximum } => {
                self.kind("integer", start);
                self.bound("minimum", minimum, keywords);
                self.bound("maximum", maximum, keywords);
            }
            Node::Enum(names) => {
                self.kind("string", start);
                self.raw(",\"enum\":");
                self.names(names);
            }
            Node::Array(items) => {
                self.kind("array", start);
                self.raw(",\"items\":");
                self.node(items, "", &[]);
            }
            Node::Map(values) => {
                self.kind("object", start);
                self.raw(",\"additionalProperties\":");
                self.node(values, "", &[]);
            }
            Node::Object(properties) => {
                self.kind("object", start);
                self.properties(properties);
            }
            Node::Nullable(value) => {
                self.key("anyOf", start);
                self.raw("[");
                self.node(value, "", &[]);
                self.raw(",{\"type\":\"null\"}]");
            }
        }
        let mut i = 0;
        while i < keywords.len() {
            self.key(keywords[i].0, start);
            self.raw(keywords[i].1);
            i += 1;
        }
        self.byte(b'}');
    }

    /// Begins a member of the object whose first byte is at `start`.
    const fn key(&mut self, name: &str, start: usize) {
        if self.len > start {
            self.byte(b',');
        }
        self.quoted(name);
        self.byte(b':');
    }

    const fn kind(&mut self, name: &str, start: usize) {
        self.key("type", start);
        self.quoted(name);
    }

    /// Writes a bound of the type, unless the property sets its own.
    const fn bound(&mut self, name: &str, value: &str, keywords: &[(&str, &str)]) {
        let mut i = 0;
        while i < keywords.len() {
            if equal(keywords[i].0, name) {
                return;
            }
            i += 1;
        }
        if !value.is_empty() {
            self.byte(b',');
            self.quoted(name);
            self.byte(b':');
            self.raw(value);
        }
    }

    const fn names(&mut self, names: &[&str]) {
        self.byte(b'[');
        let mut i = 0;
        while i < names.len() {
            if i > 0 {
                self.byte(b',');
            }
            self.quoted(names[i]);
            i += 1;
        }
        self.byte(b']');
    }

    const fn properties(&mut self, properties: &[Property]) {
        self.raw(",\"properties\":{");
        let start = self.len;
        let mut i = 0;
        while i < properties.len() {
            let property = &properties[i];
            self.key(property.name, start);
            self.node(&property.node, property.description, property.keywords);
            i += 1;
        }
        self.byte(b'}');
        self.required(properties);
        self.raw(",\"additionalProperties\":false");
    }

    const fn required(&mut self, properties: &[Property]) {
        let mut any = false;
        let mut i = 0;
        while i < properties.len() {
            if properties[i].required {
                self.raw(if any { "," } else { ",\"required\":[" });
                self.quoted(properties[i].name);
                any = true;
            }
            i += 1;
        }
        if any {
            self.byte(b']');
        }
    }
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
