//! Finds and replaces in a text.

common::guest!(String, common::text, replace);

fn replace(text: &str) -> u32 {
    common::checksum(text.replace("error", "warning").as_bytes())
}
