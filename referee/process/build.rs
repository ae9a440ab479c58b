//! Chooses how processes are started and ended: sets the cfg `portable` on every system but Linux, and
//! on Linux if the environment variable `REFEREE_PORTABLE` is set, to test that implementation.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=REFEREE_PORTABLE");
    println!("cargo::rustc-check-cfg=cfg(portable)");
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if !is_linux || env::var_os("REFEREE_PORTABLE").is_some() {
        println!("cargo::rustc-cfg=portable");
    }
}
