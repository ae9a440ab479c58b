mod likelihood;
mod pentanomial;
mod planning;
mod simulation;
mod summary;

use crate::SprtSettings;

/// A test with the usual chances of error.
fn test_of(elo0: f64, elo1: f64) -> SprtSettings {
    SprtSettings { elo0, elo1, alpha: 0.05, beta: 0.05 }
}
