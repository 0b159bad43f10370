"""
A client of frictiond:

    include("Frictiond.jl")
    client = Frictiond.Client("http://127.0.0.1:8080")
    answer = Frictiond.evaluate(client, batch)

The same contacts again and again are a set, which the service prepares once and which ends with the block:

    Frictiond.set(client, batch) do contacts
        for step in 1:n
            force = -Frictiond.evaluate(contacts, velocities; outputs = ["gradient"])["gradient"]
        end    # of bodies alone: Frictiond.evaluate(contacts; body_velocities = twists)
        Frictiond.patch(contacts; positions = positions)    # lagged again
    end

The URL may be that of a Unix-domain socket: http+unix:///run/frictiond/socket.

A batch is a `Dict` or a `NamedTuple` of the form that docs/api.md describes. Vertices are numbered from 0, and integers
must be of an integer type.

Julia stores columns one after the other, the service rows. So what docs/api.md calls an array of shape [n, m] is an
m×n matrix here, a column for each vertex or contact, in requests and in answers: `velocities` is dim×n_vertices,
`vertices` of a face-vertex contact 4×n, `tangent_basis` (dim−1)×dim×n, `body_velocities` 6×n_bodies (3×n_bodies in
2D), `jacobian` of body_body 12×5×n. Nothing is copied to turn it around.

What goes wrong is thrown as `Frictiond.Failure`, with `status`, `detail`, `pointer`, `request_id`, `code`; status 0
means that there was no answer. A busy service (429, 502, 503, 504) and a failed connection are tried again first.

Needs JSON.jl (0.21 or 1.x); all else comes with Julia (1.6 or later).
"""
module Frictiond

import Downloads
import JSON
using SparseArrays: SparseMatrixCSC, sparse
using UUIDs: uuid4

const UNIX = "http+unix://"
const LOST = ("unknown_set", "set_changed")
const PUTS = 3

struct Failure <: Exception
    status::Int
    detail::String
    pointer::String
    request_id::String
    code::String
end

function Base.showerror(io::IO, failure::Failure)
    failure.status == 0 || print(io, failure.status, ": ")
    print(io, failure.detail)
    isempty(failure.pointer) || print(io, " (", failure.pointer, ")")
end

Base.@kwdef struct Client
    url::String = "http://127.0.0.1:8080"
    token::Union{String,Nothing} = nothing
    retries::Int = 5
    timeout::Float64 = 300.0    # seconds, for each try
    downloader::Downloads.Downloader = downloader_for(url)    # keeps connections open
end

function downloader_for(url)
    downloader = Downloads.Downloader()
    if startswith(url, UNIX)
        path = url[ncodeunits(UNIX) + 1:end]
        downloader.easy_hook =
            (easy, _) -> Downloads.Curl.setopt(easy, Downloads.Curl.CURLOPT_UNIX_SOCKET_PATH, path)
    end
    return downloader
end

Client(url::AbstractString; options...) = Client(; url = String(rstrip(url, '/')), options...)

"Potential, gradient, Hessian, values per contact, as a Dict."
evaluate(client::Client, batch) = post(client, "/v1/evaluate", batch)

"How well gradient and Hessian agree with central differences."
check(client::Client, batch) = post(client, "/v1/check", batch)

"""
Potential and gradient, and under "tangents" their derivatives along tangents of fields of the batch, which has no outputs:
`jvp(client, batch, Dict("/velocities" => direction))["tangents"]["gradient"]`.
"""
jvp(client::Client, batch, tangents) = post(client, "/v1/jvp", joined(batch, (; tangents)))

"""
Under "cotangents" the derivatives of the sum of answers times cotangents by every number of the fields in `wrt`:
`vjp(client, batch, (potential = 1,), ["/positions"])["cotangents"]["/positions"]`.
"""
vjp(client::Client, batch, cotangents, wrt) = post(client, "/v1/vjp", joined(batch, (; cotangents, wrt)))

joined(document, more) = merge(prepared(document), prepared(more))

"A scalar function at many points: `scalar(client, \"smooth_mu\"; y = v, mu_s = 1, mu_k = 0.1, eps_v = 1e-3)`."
scalar(client::Client, name::AbstractString; parameters...) =
    post(client, "/v1/functions/" * name, values(parameters))["values"]

"The scalar functions: a vector of Dicts with name, meaning, parameters."
functions(client::Client) = request(client, "/v1/functions", nothing)["functions"]

info(client::Client) = request(client, "/v1/info", nothing)

"The Hessian of an answer (format triplets or csr) as a sparse matrix. A triangle is not completed to the full matrix."
function hessian_matrix(answer)
    h = answer["hessian"]
    m, n = h["shape"]
    if h["format"] == "triplets"
        return sparse(h["rows"] .+ 1, h["cols"] .+ 1, Float64.(h["values"]), m, n)    # duplicates add up
    elseif h["format"] == "csr"
        # Compressed rows are the compressed columns of the transpose.
        transposed = SparseMatrixCSC(n, m, h["indptr"] .+ 1, h["indices"] .+ 1, Float64.(h["data"]))
        return copy(transpose(transposed))
    end
    error("the Hessian came as $(h["format"]): ask for triplets or csr")
end

"""
Contacts that the service has prepared; made by `set`. The service may forget a set, and another program may replace
one of the same name: what has been sent is remembered, and sent again when needed.
"""
mutable struct CollisionSet
    client::Client
    path::String
    batch::Dict{String,Any}
    version::String
end

"""
Leaves contacts with the service: `batch` has the fields of an evaluation without velocities, outputs and their options;
if no other field says how many vertices there are, it needs `n_vertices`. `close` deletes the set; a `do` block after
the call has the set for itself, and deletes it at its end.
"""
function set(client::Client, batch; name = string(uuid4()))
    contacts = CollisionSet(client, "/v1/sets/" * name, Dict{String,Any}(), "")
    put(contacts, batch)
    return contacts
end

function set(use::Function, client::Client, batch; options...)
    contacts = set(client, batch; options...)
    try
        return use(contacts)
    finally
        try
            close(contacts)
        catch failure
            failure isa Failure || rethrow()    # the service forgets it in time
        end
    end
end

"With bodies, their `body_velocities` are named; without vertices there are no `velocities`."
evaluate(contacts::CollisionSet, velocities; question...) = evaluate(contacts; question..., velocities = velocities)
evaluate(contacts::CollisionSet; question...) = ask(contacts, "POST", "/evaluate", (; question...))

check(contacts::CollisionSet, velocities; question...) = check(contacts; question..., velocities = velocities)
check(contacts::CollisionSet; question...) = ask(contacts, "POST", "/check", (; question...))

"Derivatives by fields of the set or of the question. Without vertices, `velocities` is `nothing`."
jvp(contacts::CollisionSet, velocities, tangents; question...) =
    ask(contacts, "POST", "/jvp", joined(asked(velocities; question...), (; tangents)))

vjp(contacts::CollisionSet, velocities, cotangents, wrt; question...) =
    ask(contacts, "POST", "/vjp", joined(asked(velocities; question...), (; cotangents, wrt)))

asked(velocities; question...) = (; question..., velocities = velocities)
asked(::Nothing; question...) = (; question...)

"The Hessian without its numbers: format csr, bsr or triplets, triangle full, upper or lower."
pattern(contacts::CollisionSet; format = "csr", triangle = "full") =
    ask(contacts, "GET", "/pattern?format=$format&triangle=$triangle", nothing)

"Replaces all of the set."
function put(contacts::CollisionSet, batch)
    kept = deepcopy(prepared(batch))    # the caller's arrays may change
    response, _ = send(contacts.client, "PUT", contacts.path, JSON.json(kept))
    contacts.batch = kept
    contacts.version = field(response, "collision-set-version")
    return contacts
end

"""
Replaces some fields (JSON Merge Patch): `patch(contacts; positions = x, friction = (mu_s = 0.4,))`. `nothing` removes
one. Refused fields leave the set as it was.
"""
function patch(contacts::CollisionSet; fields...)
    changes = deepcopy(prepared(values(fields)))
    batch = merged(contacts.batch, changes)
    response = unless_lost() do
        first(send(contacts.client, "PATCH", contacts.path, JSON.json(changes), contacts.version))
    end
    response === nothing && return put(contacts, batch)
    contacts.batch = batch
    contacts.version = field(response, "collision-set-version")
    return contacts
end

"""
Patches the anchors with those of an answer (`collision_outputs = ["anchor"]`): what the sticking contacts remember in
the next step. `ratio`: this step's length divided by the next one's, if `velocities` are velocities. The next step's
contacts must be the same; anchors of others are yours to match.
"""
function carry(contacts::CollisionSet, answer; ratio = 1.0)
    groups = get(answer, "collisions", Dict{String,Any}())
    anchors = Dict(name => Dict("anchor" => ratio .* group["anchor"])
                   for (name, group) in groups if haskey(group, "anchor"))
    isempty(anchors) && throw(ArgumentError("the answer has no anchors: ask for outputs = [\"collisions\"], collision_outputs = [\"anchor\"]"))
    return patch(contacts; collisions = anchors)
end

function Base.close(contacts::CollisionSet)
    unless_lost(() -> send(contacts.client, "DELETE", contacts.path, nothing, contacts.version))
    return nothing
end

function ask(contacts::CollisionSet, method, action, question)
    text = question === nothing ? nothing : JSON.json(prepared(question))
    asked() = unpacked(JSON.parse(last(send(contacts.client, method, contacts.path * action, text, contacts.version))))
    for _ in 1:PUTS
        answer = unless_lost(asked)
        answer === nothing || return answer
        put(contacts, contacts.batch)
    end
    return asked()
end

# nothing if the service has no such set any more, or another one under its name
function unless_lost(send)
    try
        return send()
    catch failure
        failure isa Failure && failure.code in LOST || rethrow()
        return nothing
    end
end

# RFC 7396
merged(target, patch) = patch

function merged(target, patch::AbstractDict)
    result = target isa AbstractDict ? copy(target) : Dict{String,Any}()
    for (key, value) in patch
        if value === nothing
            delete!(result, key)
        else
            result[key] = merged(get(result, key, nothing), value)
        end
    end
    return result
end

post(client, path, document) = request(client, path, JSON.json(prepared(document)))

request(client, path, text) =
    unpacked(JSON.parse(last(send(client, text === nothing ? "GET" : "POST", path, text))))

# The response and its text. version: of the set that the request is about.
function send(client, method, path, text, version = "")
    headers = Pair{String,String}["Accept" => "application/json"]
    text === nothing || push!(headers, "Content-Type" => "application/json")
    client.token === nothing || push!(headers, "Authorization" => "Bearer " * client.token)
    isempty(version) || push!(headers, "If-Collision-Set-Version" => version)
    base = startswith(client.url, UNIX) ? "http://localhost" : client.url
    attempt = 0
    while true
        body = IOBuffer()
        response = Downloads.request(base * path;
            method = method,
            input = text === nothing ? nothing : IOBuffer(text),
            output = body, headers = headers, timeout = client.timeout, throw = false,
            downloader = client.downloader)
        if attempt < client.retries && busy(response)
            sleep(min(max(asked_wait(response), 0.1 * 2.0^attempt), 10.0))
            attempt += 1
            continue
        end
        return accepted(client, response, String(take!(body)))
    end
end

busy(response::Downloads.Response) = response.status in (429, 502, 503, 504)
# libcurl's codes: connection refused; incomplete answer; no answer; sending failed; receiving failed
busy(reason::Downloads.RequestError) = reason.code in (7, 18, 52, 55, 56)

# Header names are in lower case here.
field(response::Downloads.Response, name) = get(Dict(response.headers), name, "")

asked_wait(response::Downloads.Response) = something(tryparse(Int, field(response, "retry-after")), 0)
asked_wait(::Downloads.RequestError) = 0

function accepted(client, reason::Downloads.RequestError, text)
    hint = reason.code == 7 ? "; is it running?" : ""
    throw(Failure(0, "no answer from $(client.url): $(reason.message)$hint", "", "", ""))
end

function accepted(client, response::Downloads.Response, text)
    response.status in (200, 201, 204) && return (response, text)
    problem = try
        JSON.parse(text)
    catch
        nothing    # a proxy's page
    end
    problem isa AbstractDict || (problem = Dict{String,Any}())
    errors = get(problem, "errors", [])
    pointer = isempty(errors) ? "" : first(errors)["pointer"]
    detail = get(problem, "detail", "the answer is not from frictiond")
    throw(Failure(response.status, detail, pointer, field(response, "x-request-id"), get(problem, "code", "")))
end

# Makes JSON.jl write what the service reads: flat arrays, in memory order.
prepared(value::Union{AbstractDict,NamedTuple}) =
    Dict{String,Any}(String(key) => prepared(member) for (key, member) in pairs(value))

function prepared(value::AbstractArray)
    eltype(value) <: Real || return [prepared(entry) for entry in value]
    all(isfinite, value) || throw(ArgumentError("NaN or Inf in a batch"))
    return vec(value)
end

prepared(value::Tuple) = [prepared(entry) for entry in value]
prepared(value) = value

# Nested lists of numbers as arrays: the innermost list is the first dimension.
unpacked(value) = value
unpacked(value::AbstractDict) = Dict{String,Any}(String(key) => unpacked(member) for (key, member) in pairs(value))

function unpacked(value::AbstractVector)
    entries = map(unpacked, value)
    all(entry -> entry isa Integer, entries) && return Vector{Int}(entries)
    all(entry -> entry isa Real, entries) && return Vector{Float64}(entries)
    all(entry -> entry isa Array{<:Real}, entries) || return entries
    flat = reduce(vcat, map(vec, entries))
    return reshape(flat, size(first(entries))..., length(entries))
end

end
