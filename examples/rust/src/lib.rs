//! A client of frictiond.
//!
//! ```no_run
//! let mut client = frictiond::Client::new("http://127.0.0.1:8080");
//! let answer = client.evaluate(&serde_json::json!({
//!     "dim": 3,
//!     "velocities": [[0.02, 0.01, 0.0]],
//!     "friction": {"eps_v": 1e-3, "mu": 0.3},
//!     "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 0, 1], "normal_force": 9.81}},
//! }))?;
//! let gradient: Vec<f64> = answer.array("/gradient")?;
//! # Ok::<(), frictiond::Error>(())
//! ```
//!
//! A batch is a document of docs/api.md. As a [`Value`] it is sent as text; a [`Frame`] carries its arrays in binary.
//! Answers come as frames. Doubles are the same at both ends. The URL may be that of a Unix-domain socket:
//! `http+unix:///run/frictiond/socket`. Contacts that are asked about many times are a [`Set`].

use curl::easy::{Easy, List};
use serde_json::{json, Value};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::{cmp, fmt, process, thread, time::Duration};

const JSON: &str = "application/json";
const FRAME: &str = "application/vnd.frictiond.frame";
const UNIX: &str = "http+unix://";

#[derive(Debug)]
pub enum Error {
    /// The service refused the request. `pointer`: JSON Pointer to the culprit in the request, or empty. `code`: the
    /// service's word for what is wrong, or empty.
    Refused { status: u32, detail: String, pointer: String, request_id: String, code: String },
    /// No answer came, not even after the retries.
    Unreachable(String),
    /// An answer came, but not what was asked for.
    Unexpected(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Refused { status, detail, pointer, .. } if pointer.is_empty() => write!(f, "{status}: {detail}"),
            Error::Refused { status, detail, pointer, .. } => write!(f, "{status}: {detail} ({pointer})"),
            Error::Unreachable(reason) => write!(f, "no answer from {reason}"),
            Error::Unexpected(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

fn unexpected(what: impl fmt::Display) -> Error {
    Error::Unexpected(what.to_string())
}

/// A type of number that a frame can hold.
pub trait Number: Copy {
    const DTYPE: &'static str;
    const BYTES: usize;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
    fn from_json(value: &Value) -> Option<Self>;
}

impl Number for f64 {
    const DTYPE: &'static str = "f64";
    const BYTES: usize = 8;
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
    fn read(bytes: &[u8]) -> Self {
        f64::from_le_bytes(bytes.try_into().expect("8 bytes"))
    }
    fn from_json(value: &Value) -> Option<Self> {
        value.as_f64().filter(|_| value.is_f64()) // as strict as for arrays in the tail
    }
}

impl Number for i32 {
    const DTYPE: &'static str = "i32";
    const BYTES: usize = 4;
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
    fn read(bytes: &[u8]) -> Self {
        i32::from_le_bytes(bytes.try_into().expect("4 bytes"))
    }
    fn from_json(value: &Value) -> Option<Self> {
        i32::try_from(value.as_i64()?).ok()
    }
}

/// A batch whose arrays travel in binary: `frame.document["velocities"] = frame.add(&velocities, &[n_vertices, 3])`
/// (in two statements, for the borrow checker: `let velocities = frame.add(…)` first).
#[derive(Clone, Default)]
pub struct Frame {
    pub document: Value,
    tail: Vec<u8>,
}

impl Frame {
    /// Copies the numbers and returns the value that takes their place in the document.
    pub fn add<T: Number>(&mut self, numbers: &[T], shape: &[usize]) -> Value {
        let offset = (self.tail.len() + 63) / 64 * 64;
        self.tail.resize(offset, 0);
        self.tail.reserve(numbers.len() * T::BYTES);
        for number in numbers {
            number.write(&mut self.tail);
        }
        json!({"dtype": T::DTYPE, "shape": shape, "offset": offset})
    }

    /// The length of the document, the document, spaces up to a multiple of 64, the numbers.
    pub fn bytes(&self) -> Vec<u8> {
        let text = self.document.to_string();
        let head = (8 + text.len() + 63) / 64 * 64;
        let mut bytes = Vec::with_capacity(head + self.tail.len());
        bytes.extend_from_slice(&(head as u64 - 8).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(head, b' ');
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// The document with a patch by RFC 7396, and only those numbers that it still refers to.
    fn patched(&self, patch: &Frame) -> Frame {
        let mut merged = Frame::default();
        let mut document = merged.take(&self.document, self);
        merged.merge(&mut document, &patch.document, patch);
        let mut fresh = Frame::default();
        fresh.document = fresh.take(&document, &merged);
        fresh
    }

    fn merge(&mut self, target: &mut Value, patch: &Value, from: &Frame) {
        let fields = match patch {
            Value::Object(fields) if !is_reference(patch) => fields,
            _ => return *target = self.take(patch, from),
        };
        if !target.is_object() || is_reference(target) {
            *target = json!({});
        }
        let members = target.as_object_mut().expect("it has just been made one");
        for (name, value) in fields {
            if value.is_null() {
                members.remove(name);
            } else {
                self.merge(members.entry(name.as_str()).or_insert(Value::Null), value, from);
            }
        }
    }

    /// A copy of a value of another frame, with its numbers.
    fn take(&mut self, value: &Value, from: &Frame) -> Value {
        let fields = match value {
            Value::Object(fields) => fields,
            _ => return value.clone(),
        };
        if !is_reference(value) {
            return fields.iter().map(|(name, member)| (name.clone(), self.take(member, from))).collect();
        }
        let mut copy = value.clone();
        if let Some(numbers) = from.numbers(value) {
            let offset = (self.tail.len() + 63) / 64 * 64;
            self.tail.resize(offset, 0);
            self.tail.extend_from_slice(numbers);
            copy["offset"] = offset.into();
        }
        copy // what refers to nothing is refused by the service
    }

    fn numbers(&self, reference: &Value) -> Option<&[u8]> {
        let size = match reference["dtype"].as_str()? {
            "f64" | "i64" => 8,
            _ => 4,
        };
        let counts = reference["shape"].as_array()?;
        let bytes = counts.iter().try_fold(size, |n: usize, count| n.checked_mul(count.as_u64()?.try_into().ok()?))?;
        let begin = usize::try_from(reference["offset"].as_u64()?).ok()?;
        self.tail.get(begin..begin.checked_add(bytes)?)
    }
}

impl From<Value> for Frame {
    fn from(document: Value) -> Self {
        Frame { document, tail: Vec::new() }
    }
}

fn is_reference(value: &Value) -> bool {
    value.get("dtype").is_some()
}

/// An answer. The long arrays of its document are in the tail of the body; [`Answer::array`] reads all arrays.
pub struct Answer {
    pub document: Value,
    body: Vec<u8>,
    tail: usize,
}

impl Answer {
    fn new(body: Vec<u8>) -> Result<Self, Error> {
        let no_frame = || unexpected("the answer is not a frame");
        let length = body.get(..8).ok_or_else(no_frame)?;
        let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
        let tail = usize::try_from(length).ok().and_then(|length| length.checked_add(8)).ok_or_else(no_frame)?;
        let text = body.get(8..tail).ok_or_else(no_frame)?;
        Ok(Answer { document: serde_json::from_slice(text).map_err(unexpected)?, tail, body })
    }

    /// The numbers of an array, row by row: `array::<f64>("/gradient")`, `array::<i32>("/hessian/indptr")`.
    pub fn array<T: Number>(&self, pointer: &str) -> Result<Vec<T>, Error> {
        let value = self.document.pointer(pointer).ok_or_else(|| unexpected(format!("no {pointer}")))?;
        let mut numbers = Vec::new();
        let sound = if value.is_object() { self.copy(value, &mut numbers) } else { flatten(value, &mut numbers) };
        sound.map(|()| numbers).ok_or_else(|| unexpected(format!("{pointer} is not an array of {}", T::DTYPE)))
    }

    fn copy<T: Number>(&self, reference: &Value, numbers: &mut Vec<T>) -> Option<()> {
        if reference["dtype"] != T::DTYPE {
            return None;
        }
        let mut bytes = T::BYTES;
        for count in reference["shape"].as_array()? {
            bytes = bytes.checked_mul(count.as_u64()?.try_into().ok()?)?;
        }
        let begin = self.tail.checked_add(reference["offset"].as_u64()?.try_into().ok()?)?;
        let place = self.body.get(begin..begin.checked_add(bytes)?)?;
        numbers.extend(place.chunks_exact(T::BYTES).map(T::read));
        Some(())
    }

    /// The numbers of a vjp's cotangent of a field, `cotangent("/positions")`; one for a field that is a number.
    pub fn cotangent(&self, field: &str) -> Result<Vec<f64>, Error> {
        match self.document["cotangents"][field].as_f64() {
            Some(number) => Ok(vec![number]),
            None => self.array(&format!("/cotangents/{}", field.replace('~', "~0").replace('/', "~1"))),
        }
    }

    /// The Hessian of format `csr`.
    pub fn csr(&self) -> Result<Csr, Error> {
        Ok(Csr {
            indptr: self.array("/hessian/indptr")?,
            indices: self.array("/hessian/indices")?,
            data: self.array("/hessian/data")?,
        })
    }
}

fn flatten<T: Number>(value: &Value, numbers: &mut Vec<T>) -> Option<()> {
    for entry in value.as_array()? {
        match entry {
            Value::Array(_) => flatten(entry, numbers)?,
            _ => numbers.push(T::from_json(entry)?),
        }
    }
    Some(())
}

/// Rows one after the other: the entries of row i are `indptr[i]..indptr[i + 1]` of `indices` (columns) and `data`.
pub struct Csr {
    pub indptr: Vec<i32>,
    pub indices: Vec<i32>,
    pub data: Vec<f64>,
}

impl Csr {
    pub fn n(&self) -> usize {
        self.indptr.len() - 1
    }

    pub fn get(&self, row: usize, column: usize) -> f64 {
        let entries = self.indptr[row] as usize..self.indptr[row + 1] as usize;
        let found = self.indices[entries.clone()].binary_search(&(column as i32));
        found.map_or(0.0, |k| self.data[entries.start + k])
    }
}

/// A service, with a connection that is kept open.
pub struct Client {
    url: String,
    token: Option<String>,
    /// How often a request is repeated when the service is busy (429, 502, 503, 504) or the connection fails.
    pub retries: u32,
    /// For each try.
    pub timeout: Duration,
    easy: Easy,
}

/// The body and its type.
type Content<'a> = Option<(&'a str, &'a [u8])>;

struct Request<'a> {
    method: &'a str,
    path: &'a str,
    content: Content<'a>,
    accept: &'a str,
    /// The version of the set that the request is about, or empty.
    version: &'a str,
}

struct Response {
    status: u32,
    body: Vec<u8>,
    fields: Vec<(String, String)>,
}

impl Response {
    fn field(&self, name: &str) -> &str {
        self.fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    fn refusal(&self) -> Error {
        let problem: Value = serde_json::from_slice(&self.body).unwrap_or(Value::Null); // a proxy's page is not JSON
        Error::Refused {
            status: self.status,
            detail: problem["detail"].as_str().unwrap_or("the answer is not from frictiond").into(),
            pointer: problem["errors"][0]["pointer"].as_str().unwrap_or("").into(),
            request_id: self.field("x-request-id").into(),
            code: problem["code"].as_str().unwrap_or("").into(),
        }
    }
}

impl Client {
    pub fn new(url: &str) -> Self {
        let url = url.trim_end_matches('/').into();
        Client { url, token: None, retries: 5, timeout: Duration::from_secs(300), easy: Easy::new() }
    }

    pub fn with_token(url: &str, token: &str) -> Self {
        Client { token: Some(token.into()), ..Client::new(url) }
    }

    pub fn evaluate(&mut self, batch: &Value) -> Result<Answer, Error> {
        Answer::new(self.ask("/v1/evaluate", Some((JSON, batch.to_string().as_bytes())), FRAME)?)
    }

    pub fn evaluate_frame(&mut self, batch: &Frame) -> Result<Answer, Error> {
        Answer::new(self.ask("/v1/evaluate", Some((FRAME, &batch.bytes())), FRAME)?)
    }

    pub fn check(&mut self, batch: &Value) -> Result<Value, Error> {
        let body = self.ask("/v1/check", Some((JSON, batch.to_string().as_bytes())), JSON)?;
        serde_json::from_slice(&body).map_err(unexpected)
    }

    /// Derivatives (docs/derivatives.md) along tangents, `json!({"/velocities": …, "/friction/mu_s": 1})`: the answer's
    /// `/tangents/gradient`. `batch`, a [`Frame`] or a [`Value`], has no outputs and none of their options; what its
    /// `add` has returned may be among the tangents.
    pub fn jvp(&mut self, batch: impl Into<Frame>, tangents: Value) -> Result<Answer, Error> {
        Answer::new(self.ask("/v1/jvp", Some((FRAME, &along(batch, tangents).bytes())), FRAME)?)
    }

    /// The derivatives of the sum of answers times cotangents, `json!({"potential": 1, "gradient": …})`, by the fields
    /// in `wrt`: [`Answer::cotangent`].
    pub fn vjp(&mut self, batch: impl Into<Frame>, cotangents: Value, wrt: &[&str]) -> Result<Answer, Error> {
        Answer::new(self.ask("/v1/vjp", Some((FRAME, &back(batch, cotangents, wrt).bytes())), FRAME)?)
    }

    /// A scalar function at many points: `client.function("smooth_mu", &json!({"y": y, "mu_s": 1, …}))`.
    pub fn function(&mut self, name: &str, parameters: &Value) -> Result<Vec<f64>, Error> {
        let path = format!("/v1/functions/{name}");
        Answer::new(self.ask(&path, Some((JSON, parameters.to_string().as_bytes())), FRAME)?)?.array("/values")
    }

    /// The scalar functions: objects with name, meaning, parameters.
    pub fn functions(&mut self) -> Result<Vec<Value>, Error> {
        let mut answer: Value = serde_json::from_slice(&self.ask("/v1/functions", None, JSON)?).map_err(unexpected)?;
        match answer["functions"].take() {
            Value::Array(functions) => Ok(functions),
            _ => Err(unexpected("not a list of functions")),
        }
    }

    pub fn info(&mut self) -> Result<Value, Error> {
        serde_json::from_slice(&self.ask("/v1/info", None, JSON)?).map_err(unexpected)
    }

    /// Leaves contacts with the service, under a name that is free. `batch`, a [`Frame`] or a [`Value`], has the fields
    /// of an evaluation without velocities, outputs and their options; if no other field says how many vertices there
    /// are, it needs `n_vertices`.
    pub fn set(&self, batch: impl Into<Frame>) -> Result<Set, Error> {
        let random = RandomState::new().build_hasher().finish(); // seeded by the system
        self.set_named(&format!("rust-{}-{random:016x}", process::id()), batch)
    }

    pub fn set_named(&self, name: &str, batch: impl Into<Frame>) -> Result<Set, Error> {
        let mut client = Client::new(&self.url);
        client.token = self.token.clone();
        client.retries = self.retries;
        client.timeout = self.timeout;
        let name: String = client.easy.url_encode(name.as_bytes());
        let mut set = Set { client, path: format!("/v1/sets/{name}"), version: String::new(), batch: Frame::default() };
        set.put(batch)?;
        Ok(set)
    }

    /// The body of a 200 answer.
    fn ask(&mut self, path: &str, content: Content, accept: &str) -> Result<Vec<u8>, Error> {
        let method = if content.is_some() { "POST" } else { "GET" };
        Ok(self.send(&Request { method, path, content, accept, version: "" })?.body)
    }

    fn send(&mut self, request: &Request) -> Result<Response, Error> {
        for attempt in 0.. {
            let last = attempt >= self.retries;
            let asked = match self.exchange(request) {
                Ok(response) if matches!(response.status, 200 | 201 | 204) => return Ok(response),
                Ok(response) if last || !matches!(response.status, 429 | 502..=504) => return Err(response.refusal()),
                Ok(response) => response.field("retry-after").parse().unwrap_or(0),
                Err(reason) if last || !is_lost(&reason) => {
                    let words = reason.extra_description().unwrap_or_else(|| reason.description());
                    let hint = if reason.is_couldnt_connect() { "; is it running?" } else { "" };
                    return Err(Error::Unreachable(format!("{}: {words}{hint}", self.url)));
                }
                Err(_) => 0,
            };
            let wait = cmp::max(Duration::from_secs(asked), Duration::from_millis(100 << attempt.min(7)));
            thread::sleep(cmp::min(wait, Duration::from_secs(10)));
        }
        unreachable!("the loop ends with the last attempt")
    }

    fn exchange(&mut self, request: &Request) -> Result<Response, curl::Error> {
        let mut headers = List::new();
        headers.append("Expect:")?;
        headers.append(&format!("Accept: {}", request.accept))?;
        if let Some(token) = &self.token {
            headers.append(&format!("Authorization: Bearer {token}"))?;
        }
        if !request.version.is_empty() {
            headers.append(&format!("If-Collision-Set-Version: {}", request.version))?;
        }
        self.easy.reset(); // keeps the connection
        match self.url.strip_prefix(UNIX) {
            Some(socket) => {
                self.easy.unix_socket(socket)?;
                self.easy.url(&format!("http://localhost{}", request.path))?;
            }
            None => self.easy.url(&format!("{}{}", self.url, request.path))?,
        }
        self.easy.timeout(self.timeout)?;
        if let Some((kind, bytes)) = request.content {
            headers.append(&format!("Content-Type: {kind}"))?;
            self.easy.post(true)?;
            self.easy.post_fields_copy(bytes)?;
        }
        self.easy.custom_request(request.method)?;
        self.easy.http_headers(headers)?;
        let mut response = Response { status: 0, body: Vec::new(), fields: Vec::new() };
        let mut transfer = self.easy.transfer();
        transfer.write_function(|bytes| {
            response.body.extend_from_slice(bytes);
            Ok(bytes.len())
        })?;
        transfer.header_function(|line| {
            if let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':')) {
                response.fields.push((name.to_lowercase(), value.trim().into()));
            }
            true
        })?;
        transfer.perform()?;
        drop(transfer);
        response.status = self.easy.response_code()?;
        Ok(response)
    }
}

/// Contacts that the service has prepared, on a connection of their own. Dropping it deletes the set.
///
/// ```no_run
/// # let (client, batch, velocities, moved) = (frictiond::Client::new(""), serde_json::json!({}), [0.0], [0.0]);
/// let mut contacts = client.set(batch)?;
/// let answer = contacts.evaluate(&velocities, serde_json::json!({"outputs": ["gradient"]}))?;
/// contacts.patch(serde_json::json!({"positions": moved}))?; // lagged again
/// # Ok::<(), frictiond::Error>(())
/// ```
///
/// The service may forget a set, and another program may replace one of the same name: what has been sent is
/// remembered, and sent again when needed.
pub struct Set {
    client: Client,
    path: String,
    version: String,
    batch: Frame,
}

impl Set {
    /// The version of the set, as the service says it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// `question`, a [`Value`] or a [`Frame`]: outputs and their options, and `body_velocities` where there are bodies.
    /// `velocities`: empty where there are no vertices.
    pub fn evaluate(&mut self, velocities: &[f64], question: impl Into<Frame>) -> Result<Answer, Error> {
        let question = asked(velocities, question);
        Answer::new(self.ask("POST", "/evaluate", Some((FRAME, &question.bytes())), FRAME)?)
    }

    pub fn check(&mut self, velocities: &[f64], question: impl Into<Frame>) -> Result<Value, Error> {
        let question = asked(velocities, question);
        let body = self.ask("POST", "/check", Some((FRAME, &question.bytes())), JSON)?;
        serde_json::from_slice(&body).map_err(unexpected)
    }

    /// Derivatives, as from [`Client::jvp`], along tangents of fields of the set or of the question.
    pub fn jvp(&mut self, velocities: &[f64], tangents: Value, question: impl Into<Frame>) -> Result<Answer, Error> {
        let question = along(asked(velocities, question), tangents);
        Answer::new(self.ask("POST", "/jvp", Some((FRAME, &question.bytes())), FRAME)?)
    }

    /// Derivatives, as from [`Client::vjp`], by fields of the set or of the question.
    pub fn vjp(
        &mut self,
        velocities: &[f64],
        cotangents: Value,
        wrt: &[&str],
        question: impl Into<Frame>,
    ) -> Result<Answer, Error> {
        let question = back(asked(velocities, question), cotangents, wrt);
        Answer::new(self.ask("POST", "/vjp", Some((FRAME, &question.bytes())), FRAME)?)
    }

    /// The Hessian without its numbers. `format`: csr, bsr or triplets; `triangle`: full, upper or lower.
    pub fn pattern(&mut self, format: &str, triangle: &str) -> Result<Answer, Error> {
        Answer::new(self.ask("GET", &format!("/pattern?format={format}&triangle={triangle}"), None, FRAME)?)
    }

    /// Replaces all of the set.
    pub fn put(&mut self, batch: impl Into<Frame>) -> Result<(), Error> {
        let batch = batch.into();
        self.version = self.change("PUT", &batch.bytes(), "")?;
        self.batch = batch;
        Ok(())
    }

    /// Replaces some fields (JSON Merge Patch: `null` removes one). Refused fields leave the set as it was.
    pub fn patch(&mut self, fields: impl Into<Frame>) -> Result<(), Error> {
        let fields = fields.into();
        let (batch, version) = (self.batch.patched(&fields), self.version.clone());
        match self.change("PATCH", &fields.bytes(), &version) {
            Ok(version) => self.version = version,
            Err(error) if error.is_lost_set() => return self.put(batch),
            Err(error) => return Err(error),
        }
        self.batch = batch;
        Ok(())
    }

    /// Patches the anchors with those of an answer (`collision_outputs`: anchor): what the sticking contacts remember
    /// in the next step. `ratio`: this step's length divided by the next one's, if velocities are velocities. The next
    /// step's contacts must be the same; anchors of others are yours to match.
    pub fn carry(&mut self, answer: &Answer, ratio: f64) -> Result<(), Error> {
        let mut fields = Frame::from(json!({}));
        for (name, group) in answer.document["collisions"].as_object().into_iter().flatten() {
            if group.get("anchor").is_some() {
                let anchor: Vec<f64> = answer.array(&format!("/collisions/{name}/anchor"))?;
                let carried: Vec<f64> = anchor.iter().map(|component| component * ratio).collect();
                let reference = fields.add(&carried, &[carried.len()]);
                fields.document["collisions"][name]["anchor"] = reference;
            }
        }
        if fields.document["collisions"].is_null() {
            return Err(unexpected("the answer has no anchors: ask for outputs collisions, collision_outputs anchor"));
        }
        self.patch(fields)
    }

    fn change(&mut self, method: &str, frame: &[u8], version: &str) -> Result<String, Error> {
        let content = Some((FRAME, frame));
        let request = Request { method, path: &self.path, content, accept: JSON, version };
        Ok(self.client.send(&request)?.field("collision-set-version").into())
    }

    fn ask(&mut self, method: &str, action: &str, content: Content, accept: &str) -> Result<Vec<u8>, Error> {
        const PUTS: usize = 3;
        let path = self.path.clone() + action;
        for puts in 0.. {
            let request = Request { method, path: &path, content, accept, version: &self.version };
            match self.client.send(&request) {
                Ok(response) => return Ok(response.body),
                Err(error) if puts == PUTS || !error.is_lost_set() => return Err(error),
                Err(_) => self.version = self.change("PUT", &self.batch.bytes(), "")?,
            }
        }
        unreachable!("the loop ends with the last attempt")
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        let Set { client, path, version, .. } = self;
        // The service forgets in time what cannot be deleted.
        let _ = client.send(&Request { method: "DELETE", path, content: None, accept: JSON, version });
    }
}

fn asked(velocities: &[f64], question: impl Into<Frame>) -> Frame {
    let mut question = question.into();
    if question.document.is_null() {
        question.document = json!({});
    }
    if !velocities.is_empty() {
        let reference = question.add(velocities, &[velocities.len()]);
        question.document["velocities"] = reference;
    }
    question
}

fn along(batch: impl Into<Frame>, tangents: Value) -> Frame {
    let mut batch = batch.into();
    batch.document["tangents"] = tangents;
    batch
}

fn back(batch: impl Into<Frame>, cotangents: Value, wrt: &[&str]) -> Frame {
    let mut batch = batch.into();
    batch.document["cotangents"] = cotangents;
    batch.document["wrt"] = json!(wrt);
    batch
}

impl Error {
    fn is_lost_set(&self) -> bool {
        matches!(self, Error::Refused { code, .. } if code == "unknown_set" || code == "set_changed")
    }
}

fn is_lost(reason: &curl::Error) -> bool {
    reason.is_couldnt_connect()
        || reason.is_partial_file()
        || reason.is_got_nothing()
        || reason.is_send_error()
        || reason.is_recv_error()
}
