// SPDX-License-Identifier: MIT
//! A tile on the floor with a pin on top: posts the contacts as JSON, prints the forces and the sparse Hessian.
//!
//! cargo run --quiet --manifest-path examples/rust/Cargo.toml -- [URL]
//!
//! URL of the service, default http://127.0.0.1:8080.

use curl::easy::{Easy, List};
use serde_json::{from_slice, from_value, json, Value};
use std::{error::Error, process::ExitCode};

/// Fails with the service's reason if it refuses the request, and the JSON Pointer to the field at fault.
fn post(base: &str, path: &str, document: &Value) -> Result<Value, Box<dyn Error>> {
    let (mut easy, mut headers, mut text) = (Easy::new(), List::new(), Vec::new());
    headers.append("Content-Type: application/json")?;
    easy.url(&format!("{base}{path}"))?;
    easy.http_headers(headers)?;
    easy.post_fields_copy(document.to_string().as_bytes())?;
    {
        let mut transfer = easy.transfer();
        transfer.write_function(|bytes| {
            text.extend_from_slice(bytes);
            Ok(bytes.len())
        })?;
        transfer.perform().map_err(|reason| format!("{base}: {reason}; is it running?"))?;
    }
    let (status, answer): (_, Value) = (easy.response_code()?, from_slice(&text)?);
    if status == 200 {
        return Ok(answer);
    }
    let part = |pointer| answer.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    Err(format!("{status}: {} ({})", part("/detail"), part("/errors/0/pointer")).into())
}

fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let batch = json!({
        "dim": 3,
        "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],         // m; three corners, a pin
        "velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]],   // m/s
        "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},                            // eps_v in m/s
        "collisions": {
            "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2},               // N; the pin on the tile
            "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3, 2.5, 4]},
        },
        "hessian": {"format": "csr", "projection": "clamp"},
    });
    let answer = post(url, "/v1/evaluate", &batch)?;

    let potential: f64 = from_value(answer["potential"].clone())?;
    println!("{} contacts, potential {potential:.6} N m/s", answer["n_collisions"]);
    let gradient: Vec<f64> = from_value(answer["gradient"].clone())?;
    for (i, g) in gradient.chunks_exact(3).enumerate() {
        println!("friction on vertex {i} {:9.5} {:9.5} {:9.5} N", 0.0 - g[0], 0.0 - g[1], 0.0 - g[2]);
    }

    let hessian = &answer["hessian"];
    let (indptr, indices): (Vec<usize>, Vec<usize>) =
        (from_value(hessian["indptr"].clone())?, from_value(hessian["indices"].clone())?);
    let data: Vec<f64> = from_value(hessian["data"].clone())?;
    let n = indptr.len() - 1;
    let mut dense = vec![vec![0.0; n]; n];
    for i in 0..n {
        for k in indptr[i]..indptr[i + 1] {
            dense[i][indices[k]] = data[k];
        }
    }
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let asymmetry = pairs.map(|(i, j)| f64::abs(dense[i][j] - dense[j][i])).fold(0.0, f64::max);
    println!("Hessian {n} x {n}, {} entries, asymmetry {asymmetry:.1e} N s/m", data.len());
    println!("H[4, 4] = {:.4} N s/m", dense[4][4]);
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
