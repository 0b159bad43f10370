# A client of frictiond: source("examples/r/frictiond.R").
#
#   client <- frictiond_client("http://127.0.0.1:8080")
#   answer <- frictiond_evaluate(client, batch)
#
# A batch is a list of the form that docs/api.md describes; vertices are numbered from 0. Matrices and arrays are sent
# row by row. A single number or text is sent as such, except in the fields that are always lists (LISTS below) or if
# it is a matrix or wrapped in I(). Numbers are written with 17 digits, so that doubles are the same at both ends
# (jsonlite writes 15). In an answer, arrays of shape [n, m] are matrices with n rows.
#
# A refused request is a condition of class frictiond_error with the members status, detail, pointer and request_id;
# status 0 means that there was no answer. A busy service (429, 502, 503, 504) or a failed connection is tried again
# first. Packages: curl, jsonlite, and for frictiond_hessian Matrix (Debian: r-cran-curl r-cran-jsonlite r-cran-matrix).

frictiond_client <- function(url = "http://127.0.0.1:8080", token = NULL, retries = 5, timeout = 300) {
  # The handle keeps its connection open between requests.
  list(url = sub("/$", "", url), token = token, retries = retries, timeout = timeout, handle = curl::new_handle())
}

frictiond_evaluate <- function(client, batch) frictiond_request(client, "/v1/evaluate", batch)

frictiond_check <- function(client, batch) frictiond_request(client, "/v1/check", batch)

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

# POST with a document, GET without.
frictiond_request <- function(client, path, document = NULL) {
  body <- if (!is.null(document)) charToRaw(enc2utf8(frictiond_json(document)))
  for (attempt in 0:client$retries) {
    response <- frictiond_transfer(client, path, body)
    busy <- response$status_code %in% c(429, 502, 503, 504) || response$status_code == 0 && response$again
    if (!busy || attempt == client$retries) break
    Sys.sleep(min(max(response$retry_after, 0.1 * 2^attempt), 10))
  }
  if (response$status_code != 200) stop(frictiond_error(client, response))
  frictiond_simplify(jsonlite::fromJSON(response$text))
}

frictiond_transfer <- function(client, path, body) {
  handle <- curl::handle_reset(client$handle)
  curl::handle_setopt(handle, timeout = client$timeout)
  fields <- list("Expect" = "")
  if (!is.null(client$token)) fields[["Authorization"]] <- paste("Bearer", client$token)
  if (!is.null(body)) {
    curl::handle_setopt(handle, post = TRUE, postfieldsize_large = length(body), postfields = body)
    fields[["Content-Type"]] <- "application/json"
  }
  curl::handle_setheaders(handle, .list = fields)
  response <- tryCatch(curl::curl_fetch_memory(paste0(client$url, path), handle), error = function(reason) {
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
    request_id = response$fields[["x-request-id"]]
  ))
}

# The JSON text of a value; name is the name of its field.
frictiond_json <- function(value, name = "") {
  LISTS <- c("vertices", "closest_point", "vertex_mu", "vertex_mu_s", "vertex_mu_k", "vertex_material", "outputs",
             "collision_outputs")
  quoted <- function(text) vapply(text, function(one) unclass(jsonlite::toJSON(one, auto_unbox = TRUE)), "")
  if (is.list(value) && is.null(names(value))) {
    return(paste0("[", paste(vapply(value, frictiond_json, ""), collapse = ","), "]"))
  }
  if (is.list(value)) {
    members <- mapply(frictiond_json, value, names(value))
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
