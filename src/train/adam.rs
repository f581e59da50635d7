//! Adam (Kingma & Ba, "Adam: a method for stochastic optimization", 2015): every parameter has its own
//! step size, from running means of its gradient and of the gradient's square.

/// Decay of the running mean of the gradient.
pub(super) const BETA1: f32 = 0.9;
/// Decay of the running mean of its square.
pub(super) const BETA2: f32 = 0.999;

/// The running means of some parameters.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Adam {
    /// Of the gradients.
    pub means: Vec<f32>,
    /// Of their squares.
    pub squares: Vec<f32>,
}

/// What all parameters share in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    lr: f32,
    mean_correction: f32,
    square_correction: f32,
    epsilon: f32,
}

impl Rate {
    /// The rate of step `step`, counted from 1, at learning rate `lr`.
    pub(super) fn new(lr: f32, step: u64, epsilon: f32) -> Rate {
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        Rate {
            lr,
            mean_correction: 1.0 - BETA1.powi(step),
            square_correction: 1.0 - BETA2.powi(step),
            epsilon,
        }
    }
}

impl Adam {
    /// No gradients seen yet.
    pub(super) fn new(parameters: usize) -> Adam {
        Adam { means: vec![0.0; parameters], squares: vec![0.0; parameters] }
    }

    /// Replaces gradients by the amounts to subtract from the parameters.
    #[inline(always)]
    pub(super) fn update(&mut self, gradients: &mut [f32], rate: Rate) {
        let memory = self.means.iter_mut().zip(&mut self.squares);
        for (gradient, (mean, square)) in gradients.iter_mut().zip(memory) {
            *mean += (1.0 - BETA1) * (*gradient - *mean);
            *square += (1.0 - BETA2) * (*gradient * *gradient - *square);
            let deviation = (*square / rate.square_correction).sqrt() + rate.epsilon;
            *gradient = rate.lr * (*mean / rate.mean_correction) / deviation;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_those_of_the_paper() {
        let gradients = [[0.5_f64, -3.0], [0.25, 1.0], [-1.0, 0.0], [0.1, 1e-3]];
        let mut adam = Adam::new(2);
        let (mut mean, mut square) = ([0.0_f64; 2], [0.0_f64; 2]);
        for (step, gradient) in (1..).zip(gradients) {
            let mut update = gradient.map(|g| g as f32);
            adam.update(&mut update, Rate::new(0.01, step as u64, 1e-8));
            for i in 0..2 {
                mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
                square[i] = 0.999 * square[i] + 0.001 * gradient[i] * gradient[i];
                let corrected = mean[i] / (1.0 - 0.9_f64.powi(step));
                let deviation = (square[i] / (1.0 - 0.999_f64.powi(step))).sqrt();
                let expected = 0.01 * corrected / (deviation + 1e-8);
                assert!((f64::from(update[i]) - expected).abs() < 1e-6, "{step} {i}");
            }
        }
    }
}
