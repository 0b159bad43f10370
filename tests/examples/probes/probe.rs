// See tests/examples/native.py.
use frictiond::{Client, Error, Frame, Number};
use serde_json::json;
use std::process::ExitCode;

fn print(numbers: &[f64]) {
    for number in numbers {
        println!("{number:e}");
    }
}

fn contacts(client: &mut Client, vertices: &[i32]) -> Result<(), Error> {
    let mut batch = Frame::default();
    let forces = vec![9.81; vertices.len()];
    batch.document = json!({
        "dim": 3,
        "friction": {"eps_v": 1e-3, "mu": 0.3},
        "velocities": batch.add(&[0.02, 0.01, 0.0], &[1, 3]),
        "collisions": {"plane_vertex": {
            "vertices": batch.add(vertices, &[vertices.len()]),
            "plane_normal": [0, 0, 1],
            "normal_force": batch.add(&forces, &[forces.len()]),
        }},
        "outputs": ["potential", "gradient", "collisions"],
        "collision_outputs": ["potential"],
    });
    let answer = client.evaluate_frame(&batch)?;
    print(&answer.array("/gradient")?);
    print(&[f64::from_json(&answer.document["potential"]).unwrap()]);
    print(&answer.array("/collisions/plane_vertex/potential")?);
    Ok(())
}

fn run(words: &[String]) -> Result<(), Error> {
    let mut client = match words[2].as_str() {
        "token" => Client::with_token(&words[1], &words[3]),
        _ => Client::new(&words[1]),
    };
    match words[2].as_str() {
        "exact" => {
            let text = std::fs::read_to_string(&words[3]).unwrap();
            let y: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            print(&client.function("smooth_friction_f0", &json!({"y": y, "eps_v": 1e-300}))?);
        }
        "token" => println!("{}", client.info()?["name"].as_str().unwrap()),
        "functions" => println!("{}", client.functions()?.len()),
        "none" => contacts(&mut client, &[])?,
        "wrong" => contacts(&mut client, &[912])?,
        _ => contacts(&mut client, &[0])?,
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
