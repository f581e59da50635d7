//! The inner loops of the evaluation, for several instruction sets.
//!
//! Each loop is written once, in plain integer arithmetic, which is the specification. It is compiled for
//! several instruction sets, and the best one is chosen at run time. The compiler vectorises the loops
//! (`vpmaddwd` in the output layer). Integer arithmetic without overflow gives the same result in every
//! version. On AArch64 the plain version already uses NEON, which is part of the architecture.

use super::shape::{HIDDEN, UNIT};

/// One number per neuron of one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Row(pub [i16; HIDDEN]);

/// The loops, compiled for one instruction set.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// Name of the instruction set.
    pub name: &'static str,
    /// Sets the second row to the first, plus the rows put, minus the rows removed.
    pub update: fn(&Row, &mut Row, &[&Row], &[&Row]),
    /// The sum of both sides' activations times the output weights, in units of
    /// 1 / ([`UNIT`]² × [`OUTPUT_UNIT`](super::shape::OUTPUT_UNIT)).
    pub output: fn([&Row; 2], &[Row; 2]) -> i64,
}

impl Kernels {
    /// The fastest kernels that this processor can run.
    pub fn best() -> Kernels {
        Kernels::usable().pop().unwrap_or(PLAIN)
    }

    /// All kernels that this processor can run, fastest last.
    pub fn usable() -> Vec<Kernels> {
        let mut usable = vec![PLAIN];
        #[cfg(target_arch = "x86_64")]
        usable.extend(x86::usable());
        usable
    }
}

const PLAIN: Kernels = Kernels { name: "plain", update, output };

#[inline(always)]
fn update(from: &Row, to: &mut Row, put: &[&Row], removed: &[&Row]) {
    // The usual moves are unrolled, so that each neuron is read and written once.
    match (put, removed) {
        (&[a], &[b]) => each(to, |i| from.0[i].wrapping_add(a.0[i]).wrapping_sub(b.0[i])),
        (&[a], &[b, c]) => each(to, |i| {
            let moved = from.0[i].wrapping_add(a.0[i]).wrapping_sub(b.0[i]);
            moved.wrapping_sub(c.0[i])
        }),
        _ => {
            *to = *from;
            for row in put {
                each_of(to, |i, value| value.wrapping_add(row.0[i]));
            }
            for row in removed {
                each_of(to, |i, value| value.wrapping_sub(row.0[i]));
            }
        }
    }
}

#[inline(always)]
fn each(to: &mut Row, value: impl Fn(usize) -> i16) {
    for (i, to) in to.0.iter_mut().enumerate() {
        *to = value(i);
    }
}

#[inline(always)]
fn each_of(to: &mut Row, value: impl Fn(usize, i16) -> i16) {
    for (i, to) in to.0.iter_mut().enumerate() {
        *to = value(i, *to);
    }
}

/// Number of products of up to 127 × 255 × 255 whose sum fits into 32 bits.
const MAX_TERMS: usize = 256;

#[inline(always)]
fn output(neurons: [&Row; 2], weights: &[Row; 2]) -> i64 {
    let mut sum = 0;
    for (neurons, weights) in neurons.into_iter().zip(weights) {
        for (neurons, weights) in neurons.0.chunks(MAX_TERMS).zip(weights.0.chunks(MAX_TERMS)) {
            let mut part = 0;
            for (&neuron, &weight) in neurons.iter().zip(weights) {
                // Clipped value times weight fits into 16 bits; then times the value again.
                let value = neuron.clamp(0, UNIT as i16);
                part += i32::from(value.wrapping_mul(weight)) * i32::from(value);
            }
            sum += i64::from(part);
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernels, Row};

    /// Compiles the loops for an instruction set.
    macro_rules! kernels {
        ($module:ident, $name:literal, $features:literal) => {
            mod $module {
                use super::{Kernels, Row};

                pub(super) const KERNELS: Kernels = Kernels { name: $name, update, output };

                fn update(from: &Row, to: &mut Row, put: &[&Row], removed: &[&Row]) {
                    #[target_feature(enable = $features)]
                    fn compiled(from: &Row, to: &mut Row, put: &[&Row], removed: &[&Row]) {
                        super::super::update(from, to, put, removed);
                    }
                    // SAFETY: `usable` hands these out only where the instructions exist.
                    unsafe { compiled(from, to, put, removed) }
                }

                fn output(neurons: [&Row; 2], weights: &[Row; 2]) -> i64 {
                    #[target_feature(enable = $features)]
                    fn compiled(neurons: [&Row; 2], weights: &[Row; 2]) -> i64 {
                        super::super::output(neurons, weights)
                    }
                    // SAFETY: `usable` hands these out only where the instructions exist.
                    unsafe { compiled(neurons, weights) }
                }
            }
        };
    }

    kernels!(avx2, "AVX2", "avx2");
    kernels!(avx512, "AVX-512", "avx512f,avx512bw,avx512vl");
    kernels!(vnni, "AVX-512 VNNI", "avx512f,avx512bw,avx512vl,avx512vnni");

    /// The kernels that this processor can run, fastest last.
    pub(super) fn usable() -> Vec<Kernels> {
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl");
        let versions = [
            (is_x86_feature_detected!("avx2"), avx2::KERNELS),
            (avx512, avx512::KERNELS),
            (avx512 && is_x86_feature_detected!("avx512vnni"), vnni::KERNELS),
        ];
        versions.into_iter().filter_map(|(usable, kernels)| usable.then_some(kernels)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{MAX_BIAS, MAX_OUTPUT_WEIGHT, MAX_WEIGHT};
    use super::*;
    use crate::kit::random::Random;

    /// Random numbers in `-max..=max`.
    fn row(random: &mut Random, max: i16) -> Row {
        let span = 2 * usize::from(max.unsigned_abs()) + 1;
        Row(std::array::from_fn(|_| (random.below(span) as i32 - i32::from(max)) as i16))
    }

    /// The output by definition.
    fn defined(neurons: [&Row; 2], weights: &[Row; 2]) -> i64 {
        let square = |x: i16| i64::from(x.clamp(0, 255)).pow(2);
        (0..2)
            .flat_map(|side| (0..HIDDEN).map(move |i| (side, i)))
            .map(|(side, i)| square(neurons[side].0[i]) * i64::from(weights[side].0[i]))
            .sum()
    }

    #[test]
    fn all_instruction_sets_give_the_same_result() {
        let mut random = Random::new(1);
        let versions = Kernels::usable();
        eprintln!("versions here: {:?}", versions.iter().map(|k| k.name).collect::<Vec<_>>());
        for _ in 0..500 {
            let neurons = [row(&mut random, 400), row(&mut random, MAX_BIAS)];
            let weights =
                [row(&mut random, MAX_OUTPUT_WEIGHT), row(&mut random, MAX_OUTPUT_WEIGHT)];
            let rows: [Row; 4] = std::array::from_fn(|_| row(&mut random, MAX_WEIGHT));
            let [a, b, c, d] = rows.each_ref();
            let changes: [(&[&Row], &[&Row]); 5] =
                [(&[], &[]), (&[a], &[b]), (&[a], &[b, c]), (&[a, b], &[c, d]), (&[a, b, c], &[])];
            let output = defined(neurons.each_ref(), &weights);
            for kernels in &versions {
                assert_eq!((kernels.output)(neurons.each_ref(), &weights), output);
                for (put, removed) in changes {
                    let (mut ours, mut expected) = (neurons[1], neurons[1]);
                    (kernels.update)(&neurons[0], &mut ours, put, removed);
                    for i in 0..HIDDEN {
                        let sum = |rows: &[&Row]| rows.iter().map(|row| row.0[i]).sum::<i16>();
                        expected.0[i] = neurons[0].0[i] + sum(put) - sum(removed);
                    }
                    assert_eq!(ours, expected, "{}", kernels.name);
                }
            }
        }
    }

    #[test]
    fn the_largest_sums_fit() {
        for weight in [MAX_OUTPUT_WEIGHT, -MAX_OUTPUT_WEIGHT] {
            let (neurons, weights) = (Row([i16::MAX; HIDDEN]), [Row([weight; HIDDEN]); 2]);
            for kernels in Kernels::usable() {
                let sum = (kernels.output)([&neurons; 2], &weights);
                assert_eq!(sum, 2 * HIDDEN as i64 * 255 * 255 * i64::from(weight));
            }
        }
    }
}
