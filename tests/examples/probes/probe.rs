// See tests/examples/native.py.
use frictiond::{Answer, Client, Error, Frame, Number, Set};
use serde_json::{json, Value};
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

fn floats(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(floats).collect(),
        _ => vec![value.as_f64().unwrap()],
    }
}

fn ask(contacts: &mut Set, question: &Value) -> Result<(), Error> {
    let mut options = question.clone();
    options.as_object_mut().unwrap().remove("velocities");
    let answer = contacts.evaluate(&floats(&question["velocities"]), options)?;
    print(&[f64::from_json(&answer.document["potential"]).unwrap()]);
    print(&answer.array("/gradient")?);
    let h = answer.csr()?;
    print(&h.indices.iter().map(|&index| index.into()).collect::<Vec<f64>>());
    print(&h.data);
    Ok(())
}

/// The value with its matrices in the frame.
fn framed(frame: &mut Frame, value: &Value) -> Value {
    match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), framed(frame, value))).collect(),
        Value::Array(rows) if rows.iter().all(Value::is_array) => {
            let numbers = floats(value);
            frame.add(&numbers, &[rows.len(), numbers.len() / rows.len()])
        }
        _ => value.clone(),
    }
}

fn sets(client: &Client, given: &Value) -> Result<(), Error> {
    let (mut patch, question) = (Frame::default(), &given["question"]);
    patch.document = framed(&mut patch, &given["patch"]);
    let mut whole = Frame::default();
    let positions = framed(&mut whole, &given["set"]["positions"]);
    whole.document = given["set"].clone();
    whole.document["positions"] = positions;
    let mut contacts = client.set_named(given["name"].as_str().unwrap(), whole)?;
    ask(&mut contacts, question)?;
    println!("{}", contacts.check(&floats(&question["velocities"]), json!({}))?["agrees"]);
    let indices: Vec<i32> = contacts.pattern("csr", "full")?.array("/indices")?;
    print(&indices.into_iter().map(f64::from).collect::<Vec<f64>>());
    contacts.patch(patch)?;
    ask(&mut contacts, question)?;
    match contacts.patch(json!({"friction": {"eps_v": 0}})) {
        Err(Error::Refused { status, pointer, .. }) => println!("{status} {pointer}"),
        _ => println!("nothing was refused"),
    }
    contacts.patch(json!({"friction": {"mu_s": null, "mu_k": null, "mu": 0.5}}))?;
    ask(&mut contacts, question)
}

fn carry(client: &Client, given: &Value) -> Result<(), Error> {
    let mut contacts = client.set(given["set"].clone())?;
    let mut question = Frame::from(given["question"].clone());
    let velocities = match question.document.as_object_mut().unwrap().remove("velocities") {
        Some(velocities) => floats(&velocities),
        None => Vec::new(),
    };
    if given["question"]["body_velocities"].is_array() {
        let twists = framed(&mut question, &given["question"]["body_velocities"]);
        question.document["body_velocities"] = twists;
    }
    for step in 0..2 {
        let answer = contacts.evaluate(&velocities, question.clone())?;
        for pointer in given["read"].as_array().unwrap() {
            print(&answer.array(pointer.as_str().unwrap())?);
        }
        if step == 0 {
            contacts.carry(&answer, given["ratio"].as_f64().unwrap())?;
        }
    }
    Ok(())
}

fn tell(forward: &Answer, backward: &Answer, wrt: &[&str]) -> Result<(), Error> {
    for name in ["potential", "gradient", "body_gradient"] {
        let value = &forward.document["tangents"][name];
        if let Some(number) = value.as_f64() {
            print(&[number]);
        } else if !value.is_null() {
            print(&forward.array(&format!("/tangents/{name}"))?);
        }
    }
    for field in wrt {
        print(&backward.cotangent(field)?);
    }
    Ok(())
}

/// Asks about the whole batch, also with numbers in the frame, and of a set: the same numbers three times.
fn derive(client: &mut Client, given: &Value) -> Result<(), Error> {
    let wrt: Vec<&str> = given["wrt"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
    let along = given["along"].as_array().unwrap().iter().enumerate();
    let value = |i: usize| given["values"][format!("v{i}")].clone();
    let tangents: Value = along.map(|(i, field)| (field.as_str().unwrap().to_string(), value(i))).collect();
    let (question, cotangents) = (&given["question"], &given["cotangents"]);
    let mut whole = given["set"].clone();
    for (name, value) in question.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let forward = client.jvp(whole.clone(), tangents.clone())?;
    tell(&forward, &client.vjp(whole.clone(), cotangents.clone(), &wrt)?, &wrt)?;
    let mut batch = Frame::from(whole);
    let framed_tangents = framed(&mut batch, &tangents);
    let mut framed_cotangents = cotangents.clone();
    let gradient = floats(&cotangents["gradient"]);
    framed_cotangents["gradient"] = batch.add(&gradient, &[gradient.len()]);
    let forward = client.jvp(batch.clone(), framed_tangents)?;
    tell(&forward, &client.vjp(batch, framed_cotangents, &wrt)?, &wrt)?;
    let mut contacts = client.set(given["set"].clone())?;
    let mut more = question.clone();
    let velocities = more.as_object_mut().unwrap().remove("velocities").map_or(Vec::new(), |v| floats(&v));
    let forward = contacts.jvp(&velocities, tangents, more.clone())?;
    tell(&forward, &contacts.vjp(&velocities, cotangents.clone(), &wrt, more)?, &wrt)
}

fn file(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(name).unwrap()).unwrap()
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
        "sets" => sets(&client, &file(&words[3]))?,
        "carry" => carry(&client, &file(&words[3]))?,
        "derive" => derive(&mut client, &file(&words[3]))?,
        "law" => {
            let given = file(&words[3]);
            print(&client.function(given["name"].as_str().unwrap(), &given["parameters"])?);
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
