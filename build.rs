//! Links the unwinder of GCC into the program, where it would be a library of its own that each start finds, maps and binds. A
//! linker that takes libraries strictly in order goes on using the shared one.
#![allow(clippy::disallowed_methods, reason = "cargo tells a build script of the target by its environment")]
#![allow(clippy::print_stdout, reason = "and reads what it prints")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |what: &str, wanted: &str| std::env::var(what).is_ok_and(|value| value == wanted);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-lib=dylib=gcc_eh");
    }
}
