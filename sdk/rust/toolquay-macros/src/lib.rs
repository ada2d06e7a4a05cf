//! The macros of the [`toolquay`](https://docs.rs/toolquay) crate, which
//! re-exports and documents them. They use `syn` and `quote` and nothing else,
//! and say what is wrong at the place where it is wrong.
#![forbid(unsafe_code)]

mod attributes;
mod case;
mod schema;
mod tool;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Implements `toolquay::Schema` for a struct with named fields or an enum of
/// unit variants; see the documentation of that trait.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    schema::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a tool; see the documentation of `toolquay::Tool`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let args = parse_macro_input!(args as tool::Args);
    let function = parse_macro_input!(item as syn::ItemFn);
    tool::expand(&args, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}
