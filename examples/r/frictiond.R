# A client of frictiond: source("examples/r/frictiond.R").
#
#   client <- frictiond_client("http://127.0.0.1:8080")
#   answer <- frictiond_evaluate(client, batch)
#
# The same contacts again and again are a set, which the service prepares once:
#
#   frictiond_with_set(client, batch, function(contacts) {
#     for (step in 1:n) force <- -frictiond_set_evaluate(contacts, velocities, outputs = "gradient")$gradient
#     frictiond_set_patch(contacts, positions = positions)
#   })
#
# The URL may be that of a Unix-domain socket: http+unix:///run/frictiond/socket.
#
# A batch is a list of the form that docs/api.md describes; vertices are numbered from 0. Matrices and arrays are sent
# row by row. A single number or text is sent as such, except in the fields that are always lists (LISTS below) or if
# it is a matrix or wrapped in I(). Numbers are written with 17 digits, so that doubles are the same at both ends
# (jsonlite writes 15). In an answer, arrays of shape [n, m] are matrices with n rows.
#
# A refused request is a condition of class frictiond_error with the members status, detail, pointer, code and
# request_id; status 0 means that there was no answer. A busy service (429, 502, 503, 504) or a failed connection is
# tried again first. Packages: curl, jsonlite, and for frictiond_hessian Matrix (Debian: r-cran-curl r-cran-jsonlite
# r-cran-matrix).

frictiond_client <- function(url = "http://127.0.0.1:8080", token = NULL, retries = 5, timeout = 300) {
  # The handle keeps its connection open between requests.
  list(url = sub("/$", "", url), token = token, retries = retries, timeout = timeout, handle = curl::new_handle())
}

frictiond_evaluate <- function(client, batch) frictiond_request(client, "/v1/evaluate", batch)

frictiond_check <- function(client, batch) frictiond_request(client, "/v1/check", batch)

# Derivatives along tangents, a list of fields' pointers and values of their shapes: list("/velocities" = direction).
# batch: without outputs and their options. The answer's tangents$potential and tangents$gradient.
frictiond_jvp <- function(client, batch, tangents) {
  frictiond_request(client, "/v1/jvp", c(batch, list(tangents = tangents)))
}

# The derivatives of the sum of answers times cotangents, list(potential = 1, gradient = g), by every number of the
# fields in wrt, c("/positions", "/friction/mu_s"): the answer's cotangents[["/positions"]].
frictiond_vjp <- function(client, batch, cotangents, wrt) {
  frictiond_request(client, "/v1/vjp", c(batch, list(cotangents = cotangents, wrt = wrt)))
}

# A scalar function at many points: frictiond_function(client, "smooth_mu", y = v, mu_s = 1, mu_k = 0.1, eps_v = 1e-3).
frictiond_function <- function(client, name, ...) {
  frictiond_request(client, paste0("/v1/functions/", name), list(...))$values
}

# A data frame: name, meaning, parameters.
frictiond_functions <- function(client) frictiond_request(client, "/v1/functions")$functions

frictiond_info <- function(client) frictiond_request(client, "/v1/info")

# The Hessian of an answer (format triplets or csr) as a sparse matrix. A triangle is not completed to the full matrix.
frictiond_hessian <- function(answer) {
  h <- answer$hessian
  switch(h$format,
    triplets = Matrix::sparseMatrix(i = h$rows, j = h$cols, x = h$values, dims = h$shape, index1 = FALSE),
    csr = Matrix::sparseMatrix(j = h$indices, p = h$indptr, x = h$data, dims = h$shape, index1 = FALSE),
    stop("the Hessian came as ", h$format, ": ask for triplets or csr")
  )
}

# Leaves contacts with the service: batch has the fields of an evaluation without velocities, outputs and their options;
# if no other field says how many vertices there are, it needs n_vertices. A name that is free is made up. The service
# may forget a set, and another program may replace one of the same name: what has been sent is remembered, and sent
# again when needed. frictiond_set_close deletes the set; frictiond_with_set does so when the function has ended.
frictiond_set <- function(client, batch, name = NULL) {
  if (is.null(name)) name <- frictiond_free_name()
  contacts <- new.env()
  contacts$client <- client
  contacts$path <- paste0("/v1/sets/", curl::curl_escape(name))
  frictiond_set_put(contacts, batch)
  contacts
}

frictiond_with_set <- function(client, batch, use, name = NULL) {
  contacts <- frictiond_set(client, batch, name)
  # The service forgets in time what cannot be deleted.
  on.exit(tryCatch(frictiond_set_close(contacts), frictiond_error = function(reason) NULL))
  use(contacts)
}

# More arguments: outputs and their options, as in frictiond_set_evaluate(contacts, v, outputs = "gradient"), and
# body_velocities where there are bodies. velocities: NULL where there are no vertices.
frictiond_set_evaluate <- function(contacts, velocities = NULL, ...) {
  frictiond_set_ask(contacts, "POST", "/evaluate", frictiond_question(velocities, ...))
}

frictiond_set_check <- function(contacts, velocities = NULL, ...) {
  frictiond_set_ask(contacts, "POST", "/check", frictiond_question(velocities, ...))
}

# Derivatives by fields of the set or of the question.
frictiond_set_jvp <- function(contacts, velocities, tangents, ...) {
  frictiond_set_ask(contacts, "POST", "/jvp", frictiond_question(velocities, tangents = tangents, ...))
}

frictiond_set_vjp <- function(contacts, velocities, cotangents, wrt, ...) {
  frictiond_set_ask(contacts, "POST", "/vjp", frictiond_question(velocities, cotangents = cotangents, wrt = wrt, ...))
}

frictiond_question <- function(velocities, ...) {
  if (is.null(velocities)) list(...) else list(velocities = velocities, ...)
}

# The Hessian without its numbers: format csr, bsr or triplets, triangle full, upper or lower.
frictiond_set_pattern <- function(contacts, format = "csr", triangle = "full") {
  frictiond_set_ask(contacts, "GET", paste0("/pattern?format=", format, "&triangle=", triangle))
}

# Replaces all of the set.
frictiond_set_put <- function(contacts, batch) {
  response <- frictiond_send(contacts$client, "PUT", contacts$path, batch)
  contacts$batch <- batch
  contacts$version <- response$fields[["collision-set-version"]]
  invisible(contacts)
}

# Replaces some fields (JSON Merge Patch): frictiond_set_patch(contacts, positions = x, friction = list(mu_s = 0.4)).
# NULL removes one. Refused fields leave the set as it was.
frictiond_set_patch <- function(contacts, ...) {
  fields <- list(...)
  batch <- frictiond_merge(contacts$batch, fields)
  response <- frictiond_unless_lost(frictiond_send(contacts$client, "PATCH", contacts$path, fields, contacts$version))
  if (is.null(response)) return(frictiond_set_put(contacts, batch))
  contacts$batch <- batch
  contacts$version <- response$fields[["collision-set-version"]]
  invisible(contacts)
}

# Patches the anchors with those of an answer (outputs: collisions, collision_outputs: anchor): what the sticking contacts remember in the
# next step. ratio: this step's length divided by the next one's, if velocities are velocities. The next step's contacts
# must be the same; anchors of others are yours to match.
frictiond_set_carry <- function(contacts, answer, ratio = 1) {
  groups <- Filter(function(group) !is.null(group$anchor), as.list(answer$collisions))
  if (length(groups) == 0) stop("the answer has no anchors: ask for outputs = \"collisions\", collision_outputs = \"anchor\"")
  frictiond_set_patch(contacts, collisions = lapply(groups, function(group) list(anchor = ratio * group$anchor)))
}

frictiond_set_close <- function(contacts) {
  frictiond_unless_lost(frictiond_send(contacts$client, "DELETE", contacts$path, version = contacts$version))
  invisible(NULL)
}

frictiond_set_ask <- function(contacts, method, action, question = NULL) {
  ask <- function() {
    frictiond_send(contacts$client, method, paste0(contacts$path, action), question, contacts$version)
  }
  for (put in 1:3) {
    response <- frictiond_unless_lost(ask())
    if (!is.null(response)) return(frictiond_document(response))
    frictiond_set_put(contacts, contacts$batch)
  }
  frictiond_document(ask())
}

# NULL if the service has no such set any more, or another one under its name.
frictiond_unless_lost <- function(sent) {
  tryCatch(sent, frictiond_error = function(reason) {
    if (!identical(reason$code, "unknown_set") && !identical(reason$code, "set_changed")) stop(reason)
    NULL
  })
}

# Does not touch the program's random numbers.
frictiond_free_name <- function() {
  digits <- sub("^file", "", basename(tempfile()))
  paste("r", Sys.getpid(), sprintf("%.6f", Sys.time()), digits, sep = "-")
}

# RFC 7396.
frictiond_merge <- function(target, patch) {
  is_object <- function(value) is.list(value) && !is.null(names(value))
  if (!is_object(patch)) return(patch)
  if (!is_object(target)) target <- list()
  for (name in names(patch)) {
    target[[name]] <- if (!is.null(patch[[name]])) frictiond_merge(target[[name]], patch[[name]])
  }
  target
}

# POST with a document, GET without.
frictiond_request <- function(client, path, document = NULL) {
  frictiond_document(frictiond_send(client, if (is.null(document)) "GET" else "POST", path, document))
}

frictiond_document <- function(response) frictiond_simplify(jsonlite::fromJSON(response$text))

# version: of the set that the request is about.
frictiond_send <- function(client, method, path, document = NULL, version = NULL) {
  body <- if (!is.null(document)) charToRaw(enc2utf8(frictiond_json(document)))
  for (attempt in 0:client$retries) {
    response <- frictiond_transfer(client, method, path, body, version)
    busy <- response$status_code %in% c(429, 502, 503, 504) || response$status_code == 0 && response$again
    if (!busy || attempt == client$retries) break
    Sys.sleep(min(max(response$retry_after, 0.1 * 2^attempt), 10))
  }
  if (!response$status_code %in% c(200, 201, 204)) stop(frictiond_error(client, response))
  response
}

frictiond_transfer <- function(client, method, path, body, version) {
  handle <- curl::handle_reset(client$handle)
  curl::handle_setopt(handle, timeout = client$timeout, customrequest = method)
  fields <- list("Expect" = "", "If-Collision-Set-Version" = version)
  if (!is.null(client$token)) fields[["Authorization"]] <- paste("Bearer", client$token)
  if (!is.null(body)) {
    curl::handle_setopt(handle, post = TRUE, postfieldsize_large = length(body), postfields = body)
    fields[["Content-Type"]] <- "application/json"
  }
  url <- client$url
  if (startsWith(url, "http+unix://")) {
    curl::handle_setopt(handle, unix_socket_path = substring(url, nchar("http+unix://") + 1))
    url <- "http://localhost"
  }
  curl::handle_setheaders(handle, .list = Filter(Negate(is.null), fields))
  response <- tryCatch(curl::curl_fetch_memory(paste0(url, path), handle), error = function(reason) {
    words <- conditionMessage(reason)
    lost <- "connect to|connection refused|empty reply|recv failure|send failure|transfer closed"
    again <- grepl(lost, words, ignore.case = TRUE)
    list(status_code = 0, words = words, again = again)
  })
  if (response$status_code != 0) {
    response$text <- rawToChar(response$content)
    Encoding(response$text) <- "UTF-8"
    response$fields <- curl::parse_headers_list(response$headers)
  }
  seconds <- response$fields[["retry-after"]]
  response$retry_after <- if (is.null(seconds) || !grepl("^[0-9]+$", seconds)) 0 else as.numeric(seconds)
  response
}

frictiond_error <- function(client, response) {
  if (response$status_code == 0) {
    hint <- if (grepl("connect to|connection refused", response$words, ignore.case = TRUE)) "; is it running?" else ""
    detail <- paste0("no answer from ", client$url, ": ", response$words, hint)
    problem <- list()
  } else {
    problem <- tryCatch(jsonlite::fromJSON(response$text, simplifyVector = FALSE), error = function(reason) list())
    detail <- if (is.null(problem$detail)) "the answer is not from frictiond" else problem$detail
  }
  pointer <- if (length(problem$errors) > 0) problem$errors[[1]]$pointer else ""
  message <- if (nzchar(pointer)) paste0(detail, " (", pointer, ")") else detail
  if (response$status_code != 0) message <- paste0(response$status_code, ": ", message)
  structure(class = c("frictiond_error", "error", "condition"), list(
    message = message, call = NULL, status = response$status_code, detail = detail, pointer = pointer,
    code = problem$code, request_id = response$fields[["x-request-id"]]
  ))
}

# The JSON text of a value; name is the name of its field.
frictiond_json <- function(value, name = "") {
  LISTS <- c("vertices", "bodies", "closest_point", "vertex_mu", "vertex_mu_s", "vertex_mu_k", "vertex_material",
             "body_material", "steps", "outputs", "collision_outputs", "wrt")
  quoted <- function(text) vapply(text, function(one) unclass(jsonlite::toJSON(one, auto_unbox = TRUE)), "")
  if (is.null(value)) return("null")
  if (is.list(value) && is.null(names(value))) {
    return(paste0("[", paste(vapply(value, frictiond_json, ""), collapse = ","), "]"))
  }
  if (is.list(value)) {
    members <- mapply(frictiond_json, value, sub(".*/", "", names(value)))  # of a tangent, its field's name
    return(paste0("{", paste(quoted(names(value)), members, sep = ":", collapse = ","), "}"))
  }
  if (is.character(value)) {
    texts <- quoted(value)
  } else if (is.logical(value) && !anyNA(value)) {
    texts <- ifelse(value, "true", "false")
  } else if (is.numeric(value) && all(is.finite(value))) {
    by_rows <- if (length(dim(value)) > 1) aperm(value) else value
    texts <- sprintf("%.17g", as.double(by_rows))
  } else {
    stop(name, " must be finite numbers, texts, TRUE, FALSE or a list")
  }
  single <- length(value) == 1 && is.null(dim(value)) && !inherits(value, "AsIs") && !name %in% LISTS
  if (single) texts else paste0("[", paste(texts, collapse = ","), "]")
}

# fromJSON turns [] into an empty list.
frictiond_simplify <- function(value) {
  if (!is.list(value) || is.data.frame(value)) return(value)
  if (length(value) == 0) return(numeric(0))
  lapply(value, frictiond_simplify)
}
