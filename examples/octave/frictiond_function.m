function values = frictiond_function (name, parameters, service)
  % FRICTIOND_FUNCTION  a scalar function of the friction law at many points.
  %
  %   mu = frictiond_function ('smooth_mu', struct ('y', [0, 5e-4, 1e-3], 'mu_s', 1, 'mu_k', 0.1, 'eps_v', 1e-3));
  %
  % values is a column, or n x 2 for the anisotropic functions. frictiond_request (url, '/v1/functions') lists all.

  if nargin < 3
    service = 'http://127.0.0.1:8080';
  end
  answer = frictiond_request (service, ['/v1/functions/', name], parameters);
  values = answer.values;
end
