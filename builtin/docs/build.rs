//! Gives the module more of a stack than build-plugin.sh does: forms in a PDF may
//! lie in each other, fifty deep.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        println!("cargo::rustc-link-arg=-zstack-size=2097152");
    }
}
