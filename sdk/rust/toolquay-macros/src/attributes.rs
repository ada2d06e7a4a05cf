//! What the attributes of serde, of `schema` and of documentation say.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprUnary, Lit, LitStr, UnOp};

use crate::case::Case;

/// What the attributes of a type, a field or a variant say.
#[derive(Default)]
pub struct Attributes {
    /// The doc comment, or what `#[schema(description = "...")]` says instead.
    pub description: String,
    pub rename: Option<String>,
    pub rename_all: Option<Case>,
    /// The field may be left out whatever its type is.
    pub default: bool,
    pub skip: bool,
    /// Schema keywords in the order they were written, each with its value as
    /// JSON text.
    pub keywords: Vec<(String, String)>,
}

impl Attributes {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self { description: description(attributes), ..Self::default() };
        for attribute in attributes {
            if attribute.path().is_ident("serde") {
                attribute.parse_nested_meta(|meta| found.serde(&meta))?;
            } else if attribute.path().is_ident("schema") {
                attribute.parse_nested_meta(|meta| found.schema(&meta))?;
            }
        }
        Ok(found)
    }

    fn serde(&mut self, meta: &ParseNestedMeta) -> syn::Result<()> {
        match name(meta).as_str() {
            "rename" => self.rename = deserialize_name(meta)?.map(|name| name.value()),
            "rename_all" => self.rename_all = deserialize_name(meta)?.map(|name| case(&name)).transpose()?,
            "default" => {
                self.default = true;
                pass_over(meta)?;
            }
            "skip" | "skip_deserializing" => self.skip = true,
            "flatten" => return Err(meta.error("a flattened field has no schema of its own; write its fields out")),
            "tag" | "untagged" | "content" => return Err(meta.error("only enums of unit variants have a schema")),
            _ => pass_over(meta)?,
        }
        Ok(())
    }

    fn schema(&mut self, meta: &ParseNestedMeta) -> syn::Result<()> {
        let keyword = match name(meta).as_str() {
            "description" => {
                self.description = meta.value()?.parse::<LitStr>()?.value();
                return Ok(());
            }
            "skip" => {
                self.skip = true;
                return Ok(());
            }
            "minimum" => "minimum",
            "maximum" => "maximum",
            "min_length" => "minLength",
            "max_length" => "maxLength",
            "min_items" => "minItems",
            "max_items" => "maxItems",
            "pattern" => "pattern",
            "format" => "format",
            "default" => "default",
            other => {
                return Err(meta.error(format!(
                    "unknown schema attribute `{other}`; known are description, skip, default, minimum, maximum, \
                     min_length, max_length, min_items, max_items, pattern and format"
                )));
            }
        };
        if self.keywords.iter().any(|(known, _)| known == keyword) {
            return Err(meta.error(format!("`{keyword}` is given twice")));
        }
        let value = json(&meta.value()?.parse()?)?;
        self.keywords.push((keyword.to_owned(), value));
        Ok(())
    }
}

fn name(meta: &ParseNestedMeta) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

/// Reads `= "name"` or `(serialize = "...", deserialize = "name")`.
fn deserialize_name(meta: &ParseNestedMeta) -> syn::Result<Option<LitStr>> {
    if meta.input.peek(syn::Token![=]) {
        return meta.value()?.parse().map(Some);
    }
    let mut found = None;
    meta.parse_nested_meta(|inner| {
        let text: LitStr = inner.value()?.parse()?;
        if inner.path.is_ident("deserialize") {
            found = Some(text);
        }
        Ok(())
    })?;
    Ok(found)
}

fn case(name: &LitStr) -> syn::Result<Case> {
    Case::named(&name.value()).ok_or_else(|| syn::Error::new(name.span(), "serde knows no such spelling"))
}

/// Consumes the value of an attribute that does not matter here.
fn pass_over(meta: &ParseNestedMeta) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let inner;
        syn::parenthesized!(inner in meta.input);
        inner.parse::<TokenStream>()?;
    }
    Ok(())
}

/// The JSON text of a literal.
fn json(expression: &Expr) -> syn::Result<String> {
    match expression {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)) => Ok(format!("-{}", json(expr)?)),
            other => Err(syn::Error::new_spanned(other, "a number is needed here")),
        },
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Ok(quoted(&text.value())),
            Lit::Bool(value) => Ok(value.value.to_string()),
            Lit::Int(value) => Ok(value.base10_digits().to_owned()),
            Lit::Float(value) => Ok(value.base10_digits().to_owned()),
            other => Err(syn::Error::new_spanned(other, "a string, number or bool is needed here")),
        },
        other => Err(syn::Error::new_spanned(other, "a literal is needed here: schemas are made at compile time")),
    }
}

/// Quotes a text as JSON does.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text of a doc comment: lines of one paragraph are joined, lines that
/// belong to lists and blank lines stay.
pub fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(doc_line);
    let mut text = String::new();
    for line in lines.flat_map(|line| line.lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>()) {
        let own_line = line.is_empty() || line.starts_with(['-', '*', '#', '|', '`']);
        if own_line || text.is_empty() || text.ends_with('\n') {
            if own_line && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&line);
            if line.is_empty() {
                text.push('\n');
            }
        } else {
            text.push(' ');
            text.push_str(&line);
        }
    }
    text.trim().to_owned()
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) if text.value().is_empty() => Some("\n".to_owned()),
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::{description, json, quoted};

    #[test]
    fn joins_paragraphs_and_keeps_lists() {
        let item: syn::ItemStruct = parse_quote! {
            /// Reads a file
            /// from disk.
            ///
            /// - one
            ///   more of it
            /// - two
            struct S;
        };
        assert_eq!(description(&item.attrs), "Reads a file from disk.\n\n- one more of it\n- two");
        let item: syn::ItemStruct = parse_quote! {
            /** Block
            comment. */
            struct S;
        };
        assert_eq!(description(&item.attrs), "Block comment.");
    }

    #[test]
    fn writes_literals_as_json() {
        for (expression, want) in [
            (parse_quote!(1_000), "1000"),
            (parse_quote!(-2.5), "-2.5"),
            (parse_quote!(true), "true"),
            (parse_quote!("a\"b\\c\nd\u{1}é"), r#""a\"b\\c\nd\u0001é""#),
        ] {
            assert_eq!(json(&expression).expect(want), want);
        }
        assert!(json(&parse_quote!(f(x))).is_err());
        assert_eq!(quoted(""), "\"\"");
    }
}
