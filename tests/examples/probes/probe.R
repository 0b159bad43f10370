# See tests/examples/native.py.
words <- commandArgs(trailingOnly = TRUE)
source("examples/r/frictiond.R")
client <- frictiond_client(words[1], token = if (words[2] == "token") words[3])

contacts <- function(vertices) {
  answer <- frictiond_evaluate(client, list(
    dim = 3, velocities = rbind(c(0.02, 0.01, 0)), friction = list(eps_v = 1e-3, mu = 0.3),
    collisions = list(plane_vertex = list(vertices = vertices, plane_normal = c(0, 0, 1),
                                          normal_force = I(rep(9.81, length(vertices))))),
    outputs = c("potential", "gradient", "collisions"), collision_outputs = "potential"
  ))
  show(c(answer$gradient, answer$potential, answer$collisions$plane_vertex$potential))
}

show <- function(numbers) cat(sprintf("%.17g\n", as.double(numbers)), sep = "")

switch(words[2],
  exact = show(frictiond_function(client, "smooth_friction_f0", y = scan(words[3], quiet = TRUE), eps_v = 1e-300)),
  hessian = show(t(as.matrix(frictiond_hessian(frictiond_evaluate(client, jsonlite::fromJSON(words[3])))))),
  one = contacts(0),
  none = contacts(integer(0)),
  wrong = contacts(912),
  token = cat(frictiond_info(client)$name),
  functions = show(nrow(frictiond_functions(client)))
)
