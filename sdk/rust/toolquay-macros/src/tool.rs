//! `#[tool(...)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, LitStr, Path, Token, Type};

use crate::attributes::description;

/// What stands in the parentheses of `#[tool(...)]`.
pub struct Args {
    name: LitStr,
    assess: Option<Path>,
    output: Option<Type>,
    lines: Vec<(String, LitStr)>,
    classifier_text: Option<LitStr>,
}

/// The lines of a call, by their names in the manifest.
const LINES: [&str; 6] = ["queued", "use", "progress", "result", "rejection", "error"];

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let (mut name, mut assess, mut output, mut classifier_text) = (None, None, None, None);
        let mut templates = None;
        while !input.is_empty() {
            let key: syn::Ident = input.parse()?;
            if key == "lines" {
                once(&key, &mut templates, lines(input)?)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
                continue;
            }
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "name" => once(&key, &mut name, input.parse()?)?,
                "assess" => once(&key, &mut assess, input.parse()?)?,
                "output" => once(&key, &mut output, input.parse()?)?,
                "classifier_text" => once(&key, &mut classifier_text, input.parse()?)?,
                _ => {
                    return Err(syn::Error::new(
                        key.span(),
                        "unknown key; known are name, assess, output, lines and classifier_text",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let name =
            name.ok_or_else(|| syn::Error::new(Span::call_site(), "a tool needs a name: #[tool(name = \"Read\")]"))?;
        Ok(Self { name: checked(name)?, assess, output, lines: templates.unwrap_or_default(), classifier_text })
    }
}

/// Reads the templates in `lines(use = "...", result = "...")`.
fn lines(input: ParseStream) -> syn::Result<Vec<(String, LitStr)>> {
    let inner;
    syn::parenthesized!(inner in input);
    let mut found: Vec<(String, LitStr)> = Vec::new();
    while !inner.is_empty() {
        let key = inner.call(syn::Ident::parse_any)?; // `use` is a keyword
        let name = key.to_string();
        if !LINES.contains(&name.as_str()) {
            return Err(syn::Error::new(
                key.span(),
                "unknown line; known are queued, use, progress, result, rejection and error",
            ));
        }
        if found.iter().any(|(known, _)| *known == name) {
            return Err(syn::Error::new(key.span(), "given twice"));
        }
        inner.parse::<Token![=]>()?;
        found.push((name, inner.parse()?));
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    Ok(found)
}

fn once<T>(key: &syn::Ident, slot: &mut Option<T>, value: T) -> syn::Result<()> {
    if slot.replace(value).is_some() {
        return Err(syn::Error::new(key.span(), "given twice"));
    }
    Ok(())
}

/// The longest name of a tool, in characters.
const MAX_NAME: usize = 64;

fn checked(name: LitStr) -> syn::Result<LitStr> {
    let text = name.value();
    let good = text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if good {
        return Ok(name);
    }
    Err(syn::Error::new(
        name.span(),
        "a tool's name is a letter, then up to 63 letters, digits, underscores or hyphens",
    ))
}

pub fn expand(args: &Args, function: &ItemFn) -> syn::Result<TokenStream> {
    let (input, takes_context) = parameters(function)?;
    let ident = &function.sig.ident;
    let visibility = &function.vis;
    let name = &args.name;
    let summary = format!("The tool `{}`.", name.value());
    let description = description(&function.attrs);
    let call = if takes_context { quote!(#ident(input, cx)) } else { quote!(#ident(input)) };
    let output = args.output.as_ref().map(|ty| {
        quote! {
            const OUTPUT: ::core::option::Option<::toolquay::schema::Node> =
                ::core::option::Option::Some(<#ty as ::toolquay::Schema>::NODE);
        }
    });
    let lines = (!args.lines.is_empty()).then(|| {
        let (names, templates): (Vec<_>, Vec<_>) = args.lines.iter().map(|(name, text)| (name, text)).unzip();
        quote! {
            const LINES: &'static [(&'static str, &'static str)] = &[#((#names, #templates)),*];
        }
    });
    let classifier_text = args.classifier_text.as_ref().map(|text| {
        quote! {
            const CLASSIFIER_TEXT: &'static str = #text;
        }
    });
    let assess = args.assess.as_ref().map(|path| {
        quote! {
            fn assess(input: &Self::Input, cx: &::toolquay::AssessContext) -> ::toolquay::Assessment {
                #path(input, cx)
            }
        }
    });
    Ok(quote! {
        #function

        #[doc = #summary]
        #[allow(non_camel_case_types)]
        #visibility struct #ident {}

        impl ::toolquay::Tool for #ident {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            type Input = #input;
            #output
            #lines
            #classifier_text
            fn call(
                input: Self::Input,
                cx: &mut ::toolquay::Context,
            ) -> ::core::result::Result<::toolquay::Output, ::toolquay::ToolError> {
                // Not every tool looks at its context.
                let _ = &cx;
                ::toolquay::IntoResult::into_result(#call)
            }
            #assess
        }
    })
}

/// The type of the input, and whether the function takes a context too.
fn parameters(function: &ItemFn) -> syn::Result<(&Type, bool)> {
    const SHAPE: &str = "a tool is a plain function of its input and, if it wants one, a context: \
                         fn tool(input: Input, cx: &mut Context) -> Result<Output, ToolError>";
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(syn::Error::new(
            keyword.span(),
            "a tool is not an async fn; submit capability calls and wait for them",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&signature.generics, SHAPE));
    }
    let mut types = Vec::with_capacity(2);
    for argument in &signature.inputs {
        match argument {
            FnArg::Typed(argument) => types.push(&*argument.ty),
            FnArg::Receiver(receiver) => return Err(syn::Error::new_spanned(receiver, SHAPE)),
        }
    }
    match types.as_slice() {
        [input] => Ok((input, false)),
        [input, _] => Ok((input, true)),
        _ => Err(syn::Error::new(signature.inputs.span(), SHAPE)),
    }
}
