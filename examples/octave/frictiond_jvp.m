function answer = frictiond_jvp (batch, tangents, service)
  % FRICTIOND_JVP  potential and gradient, and their derivatives along tangents of fields of the batch.
  %
  %   answer = frictiond_jvp (batch, {'/velocities', direction; '/friction/mu_s', 0.1}, 'http://127.0.0.1:8080');
  %   answer.tangents.gradient
  %
  % batch is that of FRICTIOND_EVALUATE, without outputs and their options. tangents is a cell with two columns: JSON
  % Pointers of fields, and numbers of the field's shape. docs/derivatives.md says which fields there are.

  if nargin < 3
    service = 'http://127.0.0.1:8080';
  end
  batch.tangents = tangents;
  answer = frictiond_request (service, '/v1/jvp', batch);
end
