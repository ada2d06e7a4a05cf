//! `#[derive(Schema)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, GenericParam, Generics, Variant, parse_quote};

use crate::attributes::Attributes;
use crate::case::Case;

pub fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = Attributes::read(&input.attrs)?;
    let node = match &input.data {
        Data::Struct(data) => object(&data.fields, &attributes, input)?,
        Data::Enum(data) => choice(data, &attributes)?,
        Data::Union(_) => return Err(syn::Error::new_spanned(&input.ident, "a union has no schema")),
    };
    let name = &input.ident;
    let description = &attributes.description;
    let generics = bounded(input.generics.clone());
    let (for_impl, for_type, bounds) = generics.split_for_impl();
    Ok(quote! {
        impl #for_impl ::toolquay::Schema for #name #for_type #bounds {
            const NODE: ::toolquay::schema::Node = #node;
            const DESCRIPTION: &'static str = #description;
        }
    })
}

fn bounded(mut generics: Generics) -> Generics {
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(::toolquay::Schema));
        }
    }
    generics
}

fn object(fields: &Fields, attributes: &Attributes, input: &DeriveInput) -> syn::Result<TokenStream> {
    let empty = syn::punctuated::Punctuated::new();
    let fields = match fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unit => &empty,
        Fields::Unnamed(_) => {
            return Err(syn::Error::new_spanned(&input.ident, "a tuple struct has no schema; name its fields"));
        }
    };
    let all_default = attributes.default;
    let mut properties = Vec::with_capacity(fields.len());
    for field in fields {
        properties.extend(property(field, attributes.rename_all, all_default)?);
    }
    Ok(quote!(::toolquay::schema::Node::Object(&[#(#properties),*])))
}

fn property(field: &Field, rename_all: Option<Case>, all_default: bool) -> syn::Result<Option<TokenStream>> {
    let attributes = Attributes::read(&field.attrs)?;
    if attributes.skip {
        return Ok(None);
    }
    let plain = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
    let name = attributes.rename.unwrap_or_else(|| rename_all.map_or_else(|| plain.clone(), |case| case.field(&plain)));
    let ty = &field.ty;
    let description = &attributes.description;
    let (keywords, values): (Vec<_>, Vec<_>) = attributes.keywords.into_iter().unzip();
    let may_lack = all_default || attributes.default;
    Ok(Some(quote! {
        ::toolquay::schema::Property {
            name: #name,
            node: <#ty as ::toolquay::Schema>::NODE,
            description: ::toolquay::schema::describe(#description, <#ty as ::toolquay::Schema>::DESCRIPTION),
            required: !(#may_lack || <#ty as ::toolquay::Schema>::OPTIONAL),
            keywords: &[#((#keywords, #values)),*],
        }
    }))
}

fn choice(data: &DataEnum, attributes: &Attributes) -> syn::Result<TokenStream> {
    let mut names = Vec::with_capacity(data.variants.len());
    for variant in &data.variants {
        names.extend(variant_name(variant, attributes.rename_all)?);
    }
    Ok(quote!(::toolquay::schema::Node::Enum(&[#(#names),*])))
}

fn variant_name(variant: &Variant, rename_all: Option<Case>) -> syn::Result<Option<String>> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(syn::Error::new_spanned(variant, "only enums of unit variants have a schema"));
    }
    let attributes = Attributes::read(&variant.attrs)?;
    if attributes.skip {
        return Ok(None);
    }
    let plain = variant.ident.unraw().to_string();
    let name = attributes.rename.unwrap_or_else(|| rename_all.map_or(plain.clone(), |case| case.variant(&plain)));
    Ok(Some(name))
}
