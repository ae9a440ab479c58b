//! The fuzzer: libFuzzer with the target that the variable `REFEREE_FUZZ_TARGET` names.

#![no_main]

use referee_tests::fuzzing::{TARGETS, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("REFEREE_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap_or_else(|| panic!("REFEREE_FUZZ_TARGET must name a target, not {name:?}")).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
