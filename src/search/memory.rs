//! Memory: free memory, large pages and prefetching.
//!
//! Linux overcommits: it kills a process that uses more memory than there is, so a successful allocation
//! proves nothing. The free memory is therefore checked first. On other systems the allocation decides.

use std::fs;

/// The memory limits of control groups v2 and v1: for each the files with the limit and the use, and
/// the file and field of the cached files that the kernel drops when memory runs short.
const CONTAINERS: [[&str; 4]; 2] = [
    [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.current",
        "/sys/fs/cgroup/memory.stat",
        "inactive_file",
    ],
    [
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
        "total_inactive_file",
    ],
];
/// Leave 1/N of the free memory to the system.
const SYSTEM_SHARE: u64 = 16;

/// Free memory in bytes, less the system's share. `None` if unknown.
pub(super) fn available() -> Option<u64> {
    let free = field("/proc/meminfo", "MemAvailable")?;
    let left = CONTAINERS.iter().filter_map(|[limit, used, stat, cached]| {
        left_in_container(&read(limit)?, &read(used)?, &read(stat).unwrap_or_default(), cached)
    });
    let free = left.fold(free, u64::min);
    Some(free - free / SYSTEM_SHARE)
}

/// Bytes left in a control group, from the texts of its files. `None` without a limit. `cached` is the
/// field of `stat` with the part of the use that can be dropped; without it all of the use counts.
fn left_in_container(limit: &str, used: &str, stat: &str, cached: &str) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let field = |line: &str| number(line.strip_prefix(cached)?.strip_prefix(' ')?);
    let dropped = stat.lines().find_map(field).unwrap_or(0);
    let used = number(used)?.saturating_sub(dropped);
    Some(number(limit)?.saturating_sub(used))
}

/// True if there seems to be room for `count` threads, each with a stack and some memory. A stack is
/// mostly address space, which `ulimit -v` bounds.
pub(super) fn has_room(count: usize, stack: u64, bytes: u64) -> bool {
    let needed = |each: u64| each.saturating_mul(count as u64);
    count == 0
        || (available().is_none_or(|free| needed(bytes) <= free)
            && address_space().is_none_or(|left| needed(stack + bytes) <= left))
}

/// Resident memory of this process in bytes.
#[cfg(test)]
pub(crate) fn resident() -> Option<u64> {
    field("/proc/self/status", "VmRSS")
}

/// Bytes of address space left by the limit of the process. `None` without a limit.
fn address_space() -> Option<u64> {
    let limit = address_space_limit(&read("/proc/self/limits")?)?;
    Some(limit.saturating_sub(field("/proc/self/status", "VmSize")?))
}

/// The soft limit in Linux' table of limits, whose columns are name, soft limit, hard limit, unit.
fn address_space_limit(table: &str) -> Option<u64> {
    let rest = table.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Asks Linux for large pages, which save misses of the TLB in a table that is read at random. Best
/// effort; a no-op on other systems.
pub(super) fn prefer_large_pages<T>(memory: &mut [T]) {
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

/// Loads a cache line ahead of its use. Best effort; a no-op on platforms without prefetch.
#[inline]
pub(super) fn prefetch<T>(wanted: &T) {
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

/// A field of one of Linux' tables, `Name:    123 kB`, in bytes.
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

    #[test]
    fn the_use_of_a_container_counts_against_its_limit() {
        let left = |limit, used, stat| left_in_container(limit, used, stat, "inactive_file");
        assert_eq!(left("8000\n", "5000\n", ""), Some(3000));
        assert_eq!(left("8000\n", "9000\n", ""), Some(0));
        assert_eq!(left("max\n", "5000\n", ""), None);
        assert_eq!(left("8000\n", "nonsense", ""), None);
        let stat = "total_inactive_file 1\ninactive_file 1500\nactive_file 200\n";
        assert_eq!(left("8000\n", "5000\n", stat), Some(4500), "files can be dropped");
        assert_eq!(left("8000\n", "1000\n", stat), Some(8000));
    }

    #[test]
    fn the_limit_of_the_address_space_is_read() {
        let table = "Limit          Soft Limit  Hard Limit  Units\n\
                     Max cpu time           unlimited  unlimited  seconds\n\
                     Max address space      4096000000 unlimited  bytes\n";
        assert_eq!(address_space_limit(table), Some(4_096_000_000));
        assert_eq!(address_space_limit("Max address space  unlimited  unlimited  bytes\n"), None);
    }

    #[test]
    fn impossible_numbers_of_threads_have_no_room() {
        assert!(has_room(0, u64::MAX, u64::MAX) && has_room(1, 1 << 20, 1 << 20));
        assert!(available().is_none() || !has_room(usize::MAX, 1 << 20, 1 << 20));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        assert!(resident().is_some_and(|bytes| bytes > 1 << 16));
    }
}
