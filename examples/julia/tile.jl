# A tile on the floor with a pin on top: friction of the contacts, and the sparse Hessian.
#
#   julia --project=examples/julia -e 'import Pkg; Pkg.instantiate()'     once: fetches JSON.jl
#   julia --project=examples/julia examples/julia/tile.jl [URL]
#
# URL of the service, default http://127.0.0.1:8080. Debian 12 has no Julia, so the project's tests do not run this
# file: please report what does not work.

include("Frictiond.jl")
using Printf

function main(url)
    batch = (
        dim = 3,
        positions = [0 0.1 0 0.025; 0 0 0.1 0.05; 0 0 0 0.001],                # m; three corners, a pin: its column
        velocities = [0.002 0.002 0.002 0.01; 0 0 0.0004 0; 0 0 0 0],          # m/s
        friction = (eps_v = 1e-3, mu_s = 0.5, mu_k = 0.3),                     # eps_v in m/s
        collisions = (
            face_vertex = (vertices = [3, 0, 1, 2], normal_force = 2.0),       # N; the pin on the tile
            plane_vertex = (vertices = [0, 1, 2], plane_normal = [0, 0, 1], normal_force = [3, 2.5, 4]),
        ),
        hessian = (format = "csr", projection = "clamp"),
    )
    answer = Frictiond.evaluate(Frictiond.Client(url), batch)

    @printf("%d contacts, potential %.6f N m/s\n", answer["n_collisions"], answer["potential"])
    force = 0 .- reshape(answer["gradient"], 3, :)
    for i in 1:answer["n_vertices"]
        @printf("friction on vertex %d %9.5f %9.5f %9.5f N\n", i - 1, force[1, i], force[2, i], force[3, i])
    end
    H = Frictiond.hessian_matrix(answer)
    @printf("Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", size(H, 1), size(H, 2),
        length(answer["hessian"]["data"]), maximum(abs, Matrix(H) - Matrix(H)'))
    @printf("H[4, 4] = %.4f N s/m\n", H[5, 5])
end

try
    main(isempty(ARGS) ? "http://127.0.0.1:8080" : ARGS[1])
catch failure
    failure isa Frictiond.Failure || rethrow()
    println(stderr, sprint(showerror, failure))
    exit(1)
end
