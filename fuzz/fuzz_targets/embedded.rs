#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overlay_fuzz::embedded(data));
