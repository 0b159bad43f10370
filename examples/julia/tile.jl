# SPDX-License-Identifier: MIT
# A tile on the floor with a pin on top: posts the contacts as JSON, prints the forces and the sparse Hessian.
#
#   julia --project=examples/julia -e 'import Pkg; Pkg.instantiate()'     once: fetches JSON.jl
#   julia --project=examples/julia examples/julia/tile.jl [URL]
#
# URL of the service, default http://127.0.0.1:8080. Debian 12 has no Julia, so the project's tests do not run this
# file: please report what does not work.

using Downloads, JSON, Printf, SparseArrays

function give_up(words)
    println(stderr, words)
    exit(1)
end

function post(base, path, document)
    output = IOBuffer()
    response = Downloads.request(base * path; method = "POST", headers = ["Content-Type" => "application/json"],
        input = IOBuffer(JSON.json(document)), output = output, throw = false)
    response isa Downloads.RequestError && give_up("$base: $(response.message); is it running?")
    answer = JSON.parse(String(take!(output)))
    response.status == 200 && return answer
    pointers = [error["pointer"] for error in get(answer, "errors", [])]    # JSON Pointers to the fields at fault
    give_up("$(response.status): $(answer["detail"]) $(join(pointers, " "))")
end

# Matrices are written column by column, so a column is a vertex, and nothing has to be transposed. Vertices are
# numbered from 0.
batch = (
    dim = 3,
    positions = [0 0.1 0 0.025; 0 0 0.1 0.05; 0 0 0 0.001],                # m; three corners, a pin
    velocities = [0.002 0.002 0.002 0.01; 0 0 0.0004 0; 0 0 0 0],          # m/s
    friction = (eps_v = 1e-3, mu_s = 0.5, mu_k = 0.3),                     # eps_v in m/s
    collisions = (
        face_vertex = (vertices = [3, 0, 1, 2], normal_force = 2.0),       # N; the pin on the tile
        plane_vertex = (vertices = [0, 1, 2], plane_normal = [0, 0, 1], normal_force = [3, 2.5, 4]),
    ),
    hessian = (format = "csr", projection = "clamp"),
)
answer = post(isempty(ARGS) ? "http://127.0.0.1:8080" : ARGS[1], "/v1/evaluate", batch)

@printf("%d contacts, potential %.6f N m/s\n", answer["n_collisions"], answer["potential"])
force = 0 .- reshape(Float64.(answer["gradient"]), 3, :)
for i in 1:answer["n_vertices"]
    @printf("friction on vertex %d %9.5f %9.5f %9.5f N\n", i - 1, force[1, i], force[2, i], force[3, i])
end
# The service's rows are the columns of a SparseMatrixCSC: this is the transpose, which is the same for a Hessian.
h = answer["hessian"]
H = SparseMatrixCSC{Float64,Int}(h["shape"]..., h["indptr"] .+ 1, h["indices"] .+ 1, h["data"])
@printf("Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", size(H, 1), size(H, 2), length(h["data"]),
    maximum(abs, Matrix(H) - Matrix(H)'))
@printf("H[4, 4] = %.4f N s/m\n", H[5, 5])
