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

# jsonlite::fromJSON makes matrices of nested lists and vectors of lists.
sets <- function(file) {
  given <- jsonlite::fromJSON(file)
  tell <- function(answer) show(c(answer$potential, answer$gradient, answer$hessian$indices, answer$hessian$data))
  ask <- function(contacts) tell(do.call(frictiond_set_evaluate, c(list(contacts), given$question)))
  frictiond_with_set(client, given$set, function(contacts) {
    ask(contacts)
    cat(frictiond_set_check(contacts, given$question$velocities)$agrees, "\n")
    show(frictiond_set_pattern(contacts)$indices)
    do.call(frictiond_set_patch, c(list(contacts), given$patch))
    ask(contacts)
    refused <- tryCatch(frictiond_set_patch(contacts, friction = list(eps_v = 0)), frictiond_error = function(e) e)
    cat(refused$status, refused$pointer, "\n")
    frictiond_set_patch(contacts, friction = list(mu_s = NULL, mu_k = NULL, mu = 0.5))
    ask(contacts)
  }, name = given$name)
}

carry <- function(file) {
  given <- jsonlite::fromJSON(file)
  step <- function(contacts) {
    answer <- do.call(frictiond_set_evaluate, c(list(contacts), given$question))
    for (pointer in given$read) {
      values <- answer[[strsplit(substring(pointer, 2), "/")[[1]]]]
      show(if (is.matrix(values)) t(values) else values)
    }
    answer
  }
  frictiond_with_set(client, given$set, function(contacts) {
    frictiond_set_carry(contacts, step(contacts), given$ratio)
    invisible(step(contacts))
  })
}

by_rows <- function(values) if (is.matrix(values)) t(values) else values

# Asks about the whole batch, and of a set: the same numbers twice.
derive <- function(given) {
  tangents <- setNames(given$values, given$along)
  batch <- c(given$set, given$question)
  tell <- function(forward, backward) {
    for (name in c("potential", "gradient", "body_gradient")) show(by_rows(forward$tangents[[name]]))
    for (field in given$wrt) show(by_rows(backward$cotangents[[field]]))
  }
  tell(frictiond_jvp(client, batch, tangents), frictiond_vjp(client, batch, given$cotangents, given$wrt))
  frictiond_with_set(client, given$set, function(contacts) {
    v <- given$question$velocities
    more <- given$question[names(given$question) != "velocities"]
    tell(do.call(frictiond_set_jvp, c(list(contacts, v, tangents), more)),
         do.call(frictiond_set_vjp, c(list(contacts, v, given$cotangents, given$wrt), more)))
  })
}

law <- function(given) show(do.call(frictiond_function, c(list(client, given$name), given$parameters)))

switch(words[2],
  carry = carry(words[3]),
  derive = derive(jsonlite::fromJSON(words[3])),
  law = law(jsonlite::fromJSON(words[3])),
  sets = sets(words[3]),
  exact = show(frictiond_function(client, "smooth_friction_f0", y = scan(words[3], quiet = TRUE), eps_v = 1e-300)),
  hessian = show(t(as.matrix(frictiond_hessian(frictiond_evaluate(client, jsonlite::fromJSON(words[3])))))),
  one = contacts(0),
  none = contacts(integer(0)),
  wrong = contacts(912),
  token = cat(frictiond_info(client)$name),
  functions = show(nrow(frictiond_functions(client)))
)
