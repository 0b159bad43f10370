function answer = frictiond_evaluate (batch, service)
  % FRICTIOND_EVALUATE  friction of a batch of contacts: potential, gradient, Hessian, values per contact.
  %
  %   answer = frictiond_evaluate (batch)
  %   answer = frictiond_evaluate (batch, 'http://127.0.0.1:8080')
  %   answer = frictiond_evaluate (batch, struct ('url', url, 'token', token, 'retries', 5, 'timeout', 300))
  %
  % batch is a struct of the form that docs/api.md describes; vertices are numbered from 0. See FRICTIOND_REQUEST for
  % how arrays are sent, what the answer looks like, and which errors there are.

  if nargin < 2
    service = 'http://127.0.0.1:8080';
  end
  answer = frictiond_request (service, '/v1/evaluate', batch);
end
