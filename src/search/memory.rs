//! How much memory the machine has to give, in what pages, and asking for it ahead of time.
//!
//! Linux grants more memory than there is and kills a process when it is used, so that a failed
//! allocation cannot be relied upon: what is free must be asked for beforehand. On other systems
//! nothing is known here, and the allocation decides.

use std::fs;

/// Where Linux tells the limit of the container that the process runs in, if there is one: control
/// groups in their second and their first version.
const CONTAINER_LIMITS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Bytes that may be used without driving anybody out of memory. `None` if the system does not
/// tell.
pub fn available() -> Option<u64> {
    let free = field("/proc/meminfo", "MemAvailable")?;
    let limits = CONTAINER_LIMITS.iter().filter_map(|path| read(path)?.trim().parse().ok());
    Some(limits.fold(free, u64::min))
}

/// Bytes of memory that this process uses, rather than merely owns.
pub fn resident() -> Option<u64> {
    field("/proc/self/status", "VmRSS")
}

/// Asks Linux for large pages: a table that is read at random wants fewer entries of the processor's
/// page table then. A wish only: where it is not heard nothing changes. Other systems give large
/// pages on their own, or to privileged users alone.
pub fn prefer_large_pages<T>(memory: &mut [T]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        let bytes = size_of_val(memory);
        let start = memory.as_mut_ptr().cast::<u8>();
        let skipped = start.align_offset(PAGE);
        if let Some(length) = bytes.checked_sub(skipped) {
            // SAFETY: the range lies within memory that is borrowed exclusively, and this advice
            // changes nothing that is in it.
            unsafe { libc::madvise(start.add(skipped).cast(), length, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = memory;
}

/// Asks the processor to bring what is referred to into its cache: a search of many megabytes knows
/// where it will look before it looks there. A wish only, and none where it cannot be uttered.
#[inline]
pub fn prefetch<T>(wanted: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault; the address is a live reference's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *wanted).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = wanted;
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn field(path: &str, name: &str) -> Option<u64> {
    bytes_of(&read(path)?, name)
}

/// The field of a name in one of Linux' tables, `Name:    123 kB`, in bytes.
fn bytes_of(table: &str, name: &str) -> Option<u64> {
    let rest = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let table = "MemTotal:       24730032 kB\nMemAvailable:   23655312 kB\nHugePages:     3\n";
        assert_eq!(bytes_of(table, "MemAvailable"), Some(23_655_312 * 1024));
        assert_eq!(bytes_of(table, "MemAvail"), None);
        assert_eq!(bytes_of(table, "HugePages"), None);
        assert_eq!(bytes_of("MemAvailable: 99999999999999999999 kB", "MemAvailable"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        assert!(resident().is_some_and(|bytes| bytes > 1 << 16));
    }
}
