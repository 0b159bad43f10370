function H = frictiond_hessian (answer)
  % FRICTIOND_HESSIAN  the Hessian of an answer (format triplets or csr) as a sparse matrix. A triangle is not completed
  %   to the full matrix.

  h = answer.hessian;
  if strcmp (h.format, 'triplets')
    rows = h.rows;
    columns = h.cols;
    values = h.values;
  elseif strcmp (h.format, 'csr')
    rows = repelem ((0:h.shape(1) - 1)', diff (h.indptr));
    columns = h.indices;
    values = h.data;
  else
    error ('frictiond:input', 'the Hessian came as %s: ask for triplets or csr', h.format);
  end
  H = sparse (rows + 1, columns + 1, values, h.shape(1), h.shape(2));
end
