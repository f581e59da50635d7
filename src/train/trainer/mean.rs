//! The mean of networks.
//!
//! Networks that went on from the same one lie in the same valley of the loss, and what each learned
//! by chance differs: their mean can be better than any of them (Wortsman et al., "Model soups",
//! 2022).

use crate::eval::network::{LENGTH, Parameters};

/// The mean of networks, number by number, rounded.
pub fn mean(networks: &[Parameters]) -> Parameters {
    let of = |number: &dyn Fn(&Parameters) -> f64| {
        (networks.iter().map(number).sum::<f64>() / networks.len() as f64).round()
    };
    Parameters {
        scale: of(&|network| f64::from(network.scale)) as u16,
        numbers: (0..LENGTH)
            .map(|at| of(&|network| f64::from(network.numbers[at])) as i16)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::network;

    #[test]
    fn every_number_is_the_mean() {
        let embedded = Parameters::read(network::EMBEDDED).unwrap();
        let of = |scale: u16, number: i16| Parameters { scale, numbers: vec![number; LENGTH] };
        assert_eq!(mean(&[of(100, 5), of(130, -8), of(102, -6)]), of(111, -3));
        assert_eq!(mean(&[embedded.clone(), embedded.clone()]), embedded);
    }
}
