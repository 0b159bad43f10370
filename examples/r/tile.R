# SPDX-License-Identifier: MIT
# A tile on the floor with a pin on top: posts the contacts as JSON, prints the forces and the sparse Hessian.
#
#   Rscript examples/r/tile.R [URL]      URL of the service, default http://127.0.0.1:8080
#
# Packages: curl, jsonlite, Matrix (Debian: r-cran-curl r-cran-jsonlite r-cran-matrix)

give_up <- function(...) {
  message(...)
  quit(status = 1)
}

post <- function(base, path, document) {
  # digits = NA: 15 digits, the most that jsonlite writes. auto_unbox makes a vector of one entry a number; where the
  # service wants a list, write I(0).
  text <- jsonlite::toJSON(document, auto_unbox = TRUE, digits = NA)
  handle <- curl::new_handle(copypostfields = text)
  curl::handle_setheaders(handle, "Content-Type" = "application/json")
  response <- tryCatch(curl::curl_fetch_memory(paste0(base, path), handle), error = function(reason) {
    give_up(base, ": ", conditionMessage(reason), "; is it running?")
  })
  answer <- jsonlite::fromJSON(rawToChar(response$content))
  # errors is a data frame: pointer, the JSON Pointer to the field at fault, and detail.
  if (response$status_code != 200) {
    give_up(response$status_code, ": ", answer$detail, " (", answer$errors$pointer[1], ")")
  }
  answer
}

arguments <- commandArgs(trailingOnly = TRUE)
url <- if (length(arguments) > 0) arguments[1] else "http://127.0.0.1:8080"
batch <- list(
  dim = 3,
  positions = rbind(c(0, 0, 0), c(0.1, 0, 0), c(0, 0.1, 0), c(0.025, 0.05, 0.001)),       # m; three corners, a pin
  velocities = rbind(c(0.002, 0, 0), c(0.002, 0, 0), c(0.002, 0.0004, 0), c(0.01, 0, 0)), # m/s
  friction = list(eps_v = 1e-3, mu_s = 0.5, mu_k = 0.3),                                  # eps_v in m/s
  collisions = list(
    face_vertex = list(vertices = rbind(c(3, 0, 1, 2)), normal_force = 2),                # N; the pin on the tile
    plane_vertex = list(vertices = c(0, 1, 2), plane_normal = c(0, 0, 1), normal_force = c(3, 2.5, 4))
  ),
  hessian = list(format = "csr", projection = "clamp")
)
answer <- post(url, "/v1/evaluate", batch)

cat(sprintf("%d contacts, potential %.6f N m/s\n", answer$n_collisions, answer$potential))
force <- 0 - matrix(answer$gradient, nrow = 3)
for (i in seq_len(answer$n_vertices)) {
  cat(sprintf("friction on vertex %d %9.5f %9.5f %9.5f N\n", i - 1, force[1, i], force[2, i], force[3, i]), sep = "")
}
h <- answer$hessian
H <- Matrix::sparseMatrix(j = h$indices, p = h$indptr, x = h$data, dims = h$shape, index1 = FALSE)
cat(sprintf("Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n", nrow(H), ncol(H), length(h$data),
            max(abs(H - Matrix::t(H)))))
cat(sprintf("H[4, 4] = %.4f N s/m\n", H[5, 5]))
