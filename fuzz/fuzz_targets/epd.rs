#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tacet_fuzz::epd(bytes));
