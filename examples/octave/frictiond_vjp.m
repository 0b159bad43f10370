function answer = frictiond_vjp (batch, cotangents, wrt, service)
  % FRICTIOND_VJP  potential and gradient, and the derivatives of the sum of answers times cotangents by fields.
  %
  %   answer = frictiond_vjp (batch, struct ('potential', 1), {'/positions', '/friction/mu_s'}, url);
  %   answer.cotangents('/positions')
  %
  % batch is that of FRICTIOND_EVALUATE, without outputs and their options. cotangents has some of the members
  % potential, gradient, body_gradient. wrt is a cell of JSON Pointers of fields; answer.cotangents is a containers.Map
  % with a value for each of them, in the field's shape. url is by default http://127.0.0.1:8080.

  if nargin < 4
    service = 'http://127.0.0.1:8080';
  end
  batch.cotangents = cotangents;
  batch.wrt = wrt;
  answer = frictiond_request (service, '/v1/vjp', batch);
end
