//! A tile on the floor with a pin on top: friction of the contacts, and the sparse Hessian.
//!
//! cargo run --quiet --manifest-path examples/rust/Cargo.toml -- [URL]
//!
//! URL of the service, default http://127.0.0.1:8080.

use frictiond::{Client, Error};
use serde_json::json;
use std::process::ExitCode;

fn run(url: &str) -> Result<(), Error> {
    let answer = Client::new(url).evaluate(&json!({
        "dim": 3,
        "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],         // m; three corners, a pin
        "velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]],   // m/s
        "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},                            // eps_v in m/s
        "collisions": {
            "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2},               // N; the pin on the tile
            "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3, 2.5, 4]},
        },
        "hessian": {"format": "csr", "projection": "clamp"},
    }))?;

    let potential = answer.document["potential"].as_f64().unwrap_or(f64::NAN);
    println!("{} contacts, potential {potential:.6} N m/s", answer.document["n_collisions"]);
    for (i, gradient) in answer.array::<f64>("/gradient")?.chunks_exact(3).enumerate() {
        let [x, y, z] = [0, 1, 2].map(|axis| 0.0 - gradient[axis]);
        println!("friction on vertex {i} {x:9.5} {y:9.5} {z:9.5} N");
    }
    let hessian = answer.csr()?;
    let n = hessian.n();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let asymmetry = pairs.map(|(i, j)| (hessian.get(i, j) - hessian.get(j, i)).abs()).fold(0.0, f64::max);
    println!("Hessian {n} x {n}, {} entries, asymmetry {asymmetry:.1e} N s/m", hessian.data.len());
    println!("H[4, 4] = {:.4} N s/m", hessian.get(4, 4));
    Ok(())
}

fn main() -> ExitCode {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:8080".into());
    match run(&url) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
