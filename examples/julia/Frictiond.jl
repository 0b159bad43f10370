"""
A client of frictiond:

    include("Frictiond.jl")
    client = Frictiond.Client("http://127.0.0.1:8080")
    answer = Frictiond.evaluate(client, batch)

A batch is a `Dict` or a `NamedTuple` of the form that docs/api.md describes. Vertices are numbered from 0, and integers
must be of an integer type.

Julia stores columns one after the other, the service rows. So what docs/api.md calls an array of shape [n, m] is an
m×n matrix here, a column for each vertex or contact, in requests and in answers: `velocities` is dim×n_vertices,
`vertices` of a face-vertex contact 4×n, `tangent_basis` (dim−1)×dim×n. Nothing is copied to turn it around.

What goes wrong is thrown as `Frictiond.Failure`, with `status`, `detail`, `pointer`, `request_id`; status 0 means that
there was no answer. A busy service (429, 502, 503, 504) and a failed connection are tried again first.

Needs JSON.jl (0.21 or 1.x); all else comes with Julia (1.6 or later).
"""
module Frictiond

import Downloads
import JSON
using SparseArrays: SparseMatrixCSC, sparse

struct Failure <: Exception
    status::Int
    detail::String
    pointer::String
    request_id::String
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
end

Client(url::AbstractString; options...) = Client(; url = String(rstrip(url, '/')), options...)

"Potential, gradient, Hessian, values per contact, as a Dict."
evaluate(client::Client, batch) = post(client, "/v1/evaluate", batch)

"How well gradient and Hessian agree with central differences."
check(client::Client, batch) = post(client, "/v1/check", batch)

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

post(client, path, document) = request(client, path, JSON.json(prepared(document)))

function request(client, path, text)
    headers = Pair{String,String}["Accept" => "application/json"]
    text === nothing || push!(headers, "Content-Type" => "application/json")
    client.token === nothing || push!(headers, "Authorization" => "Bearer " * client.token)
    attempt = 0
    while true
        body = IOBuffer()
        response = Downloads.request(client.url * path;
            method = text === nothing ? "GET" : "POST",
            input = text === nothing ? nothing : IOBuffer(text),
            output = body, headers = headers, timeout = client.timeout, throw = false)
        if attempt < client.retries && busy(response)
            sleep(min(max(asked_wait(response), 0.1 * 2.0^attempt), 10.0))
            attempt += 1
            continue
        end
        return document(client, response, String(take!(body)))
    end
end

busy(response::Downloads.Response) = response.status in (429, 502, 503, 504)
# libcurl's codes: connection refused; incomplete answer; no answer; sending failed; receiving failed
busy(reason::Downloads.RequestError) = reason.code in (7, 18, 52, 55, 56)

# Header names are in lower case here.
field(response::Downloads.Response, name) = get(Dict(response.headers), name, "")

asked_wait(response::Downloads.Response) = something(tryparse(Int, field(response, "retry-after")), 0)
asked_wait(::Downloads.RequestError) = 0

document(client, reason::Downloads.RequestError, text) =
    throw(Failure(0, "no answer from $(client.url): $(reason.message)$(reason.code == 7 ? "; is it running?" : "")", "", ""))

function document(client, response::Downloads.Response, text)
    response.status == 200 && return unpacked(JSON.parse(text))
    problem = try
        JSON.parse(text)
    catch
        nothing    # a proxy's page
    end
    problem isa AbstractDict || (problem = Dict{String,Any}())
    errors = get(problem, "errors", [])
    pointer = isempty(errors) ? "" : first(errors)["pointer"]
    detail = get(problem, "detail", "the answer is not from frictiond")
    throw(Failure(response.status, detail, pointer, field(response, "x-request-id")))
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
