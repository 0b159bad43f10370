% A tile on the floor with a pin on top: friction of the contacts, and the sparse Hessian.
%
%   octave-cli examples/octave/tile.m [URL]
%   matlab -batch "url = 'http://127.0.0.1:8080'; run examples/octave/tile.m"
%
% URL of the service, default http://127.0.0.1:8080.

addpath (fileparts (mfilename ('fullpath')));
if ~exist ('url', 'var')
  url = 'http://127.0.0.1:8080';
  if exist ('OCTAVE_VERSION', 'builtin')
    history_save (false);    % otherwise Octave ends with an error message if there is no folder for its history
    words = argv ();
    if ~isempty (words) && strncmp (words{end}, 'http', 4)
      url = words{end};
    end
  end
end

batch = struct ();
batch.dim = 3;
batch.positions = [0, 0, 0; 0.1, 0, 0; 0, 0.1, 0; 0.025, 0.05, 0.001];          % m; three corners, a pin
batch.velocities = [0.002, 0, 0; 0.002, 0, 0; 0.002, 0.0004, 0; 0.01, 0, 0];    % m/s
batch.friction = struct ('eps_v', 1e-3, 'mu_s', 0.5, 'mu_k', 0.3);              % eps_v in m/s
batch.collisions.face_vertex = struct ('vertices', [3, 0, 1, 2], 'normal_force', 2.0);    % N; the pin on the tile
batch.collisions.plane_vertex = struct ('vertices', [0, 1, 2], 'plane_normal', [0, 0, 1], ...
                                        'normal_force', [3.0, 2.5, 4.0]);
batch.hessian = struct ('format', 'csr', 'projection', 'clamp');

answer = frictiond_evaluate (batch, url);

fprintf ('%d contacts, potential %.6f N m/s\n', answer.n_collisions, answer.potential);
force = -reshape (answer.gradient, 3, []);
for i = 1:answer.n_vertices
  fprintf ('friction on vertex %d %9.5f %9.5f %9.5f N\n', i - 1, force(:, i) + 0);
end
H = frictiond_hessian (answer);
asymmetry = full (max (max (abs (H - H'))));
fprintf ('Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n', size (H), numel (answer.hessian.data), asymmetry);
fprintf ('H[4, 4] = %.4f N s/m\n', full (H(5, 5)));
