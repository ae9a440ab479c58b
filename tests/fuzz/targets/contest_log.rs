#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| referee_tests::fuzzing::contest_log(bytes));
