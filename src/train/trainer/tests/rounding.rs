//! The trainer's floating point against the engine's integers.

use super::super::model::{LOGIT_PER_OUTPUT, Layout, TILE};
use super::*;
use crate::eval::network::Network;
use crate::eval::{self, Evaluator};

/// Outputs of a model in centipawns, and those of the engine with the same network.
fn compared(model: &Model, parameters: &Parameters) -> Vec<(f64, f64)> {
    let positions = random_positions(6, 200);
    let engine = Evaluator::Network(std::sync::Arc::new(Network::new(parameters).unwrap()));
    let mut learner = Learner::new(model.shape, 1);
    let indices: Vec<u32> = (0..positions.len() as u32).collect();
    let mut outputs = Vec::new();
    learner.evaluate(model, &samples(&positions), &indices, |_, output| {
        outputs.push(f64::from(output) * f64::from(parameters.scale));
    });
    let values = positions
        .iter()
        .map(|(position, ..)| eval::State::with(&engine, position).evaluate(position).value());
    let is_plain = |position: &Position| !eval::endings::may_mislead(position);
    let plain = positions.iter().map(|(position, ..)| is_plain(position));
    let pairs = outputs.into_iter().zip(values.map(f64::from)).zip(plain);
    pairs.filter_map(|(pair, is_plain)| is_plain.then_some(pair)).collect()
}

#[test]
fn the_engine_evaluates_as_the_trainer_does() {
    let trained = Parameters::read(EMBEDDED).unwrap();
    let random = Model::random(Shape::BUILT, &mut Random::new(2)).quantised(400.0, 0);
    for parameters in [trained, random] {
        let pairs = compared(&Model::of(&parameters), &parameters);
        assert!(pairs.len() > 40);
        for (output, value) in pairs {
            assert!((output - value).abs() < 2.0, "{output} {value}");
        }
    }
}

#[test]
fn rounding_to_integers_changes_evaluations_little() {
    let mut random = Random::new(3);
    let mut model = Model::of(&Parameters::read(EMBEDDED).unwrap());
    // Values anywhere between two integers, as training leaves them.
    let layout = Layout::of(model.shape);
    for tile in &mut model.tiles {
        for (index, value) in tile.iter_mut().enumerate() {
            let unit = if index / TILE <= layout.bias() { 255.0 } else { 64.0 };
            *value += (random.below(1_000) as f32 / 1_000.0 - 0.5) / unit;
        }
        layout.clip(tile);
    }
    let pairs = compared(&model, &model.quantised(118.0, 0));
    let errors = pairs.iter().map(|(output, value)| (output - value).powi(2));
    let error = (errors.sum::<f64>() / pairs.len() as f64).sqrt();
    assert!(error < 12.0, "root mean square of {error} centipawns");
}

#[test]
fn a_network_to_start_from_keeps_its_centipawns_on_another_scale() {
    let parameters = Parameters::read(EMBEDDED).unwrap();
    let samples = samples(&random_positions(6, 50));
    let indices: Vec<u32> = (0..samples.len() as u32).collect();
    let mut learner = Learner::new(Shape::BUILT, 2);
    let mut outputs = |model: &Model, factor: f64| {
        let mut values = Vec::new();
        learner.evaluate(model, &samples, &indices, |_, output| {
            values.push(f64::from(output) * factor);
        });
        values
    };
    let before = outputs(&Model::of(&parameters), f64::from(parameters.scale));
    let model = Model::of(&parameters).with_logits(parameters.scale, 250.0);
    let after = outputs(&model, 250.0 * f64::from(LOGIT_PER_OUTPUT));
    for (before, after) in before.iter().zip(after) {
        // Output weights at the limit are clipped.
        assert!((before - after).abs() < 0.02 * before.abs() + 2.0, "{before} {after}");
    }
}
