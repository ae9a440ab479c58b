//! Links the program under test at a fixed address: it is started tens of thousands of times, and unoptimised
//! it has so many addresses to relocate that this takes 4 of 10 ms of each start.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
