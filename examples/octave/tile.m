% SPDX-License-Identifier: MIT
% A tile on the floor with a pin on top: posts the contacts as JSON, prints the forces and the sparse Hessian.
%
%   octave-cli examples/octave/tile.m [URL]
%   matlab -batch "url = 'http://127.0.0.1:8080'; run examples/octave/tile.m"
%
% URL of the service, default http://127.0.0.1:8080. Needs curl, because webwrite hides the text of an error.

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

% jsonencode writes a matrix row by row, as the service reads it. It makes a vector of one entry a number: where the
% service wants a list, write {0}, and struct ('vertices', {{0}}).
batch = struct ();
batch.dim = 3;
batch.positions = [0, 0, 0; 0.1, 0, 0; 0, 0.1, 0; 0.025, 0.05, 0.001];          % m; three corners, a pin
batch.velocities = [0.002, 0, 0; 0.002, 0, 0; 0.002, 0.0004, 0; 0.01, 0, 0];    % m/s
batch.friction = struct ('eps_v', 1e-3, 'mu_s', 0.5, 'mu_k', 0.3);              % eps_v in m/s
batch.collisions.face_vertex = struct ('vertices', [3, 0, 1, 2], 'normal_force', 2.0);    % N; the pin on the tile
batch.collisions.plane_vertex = struct ('vertices', [0, 1, 2], 'plane_normal', [0, 0, 1], ...
                                        'normal_force', [3.0, 2.5, 4.0]);
batch.hessian = struct ('format', 'csr', 'projection', 'clamp');

% curl prints the status on a line of its own after the answer, and its own complaints in place of both.
name = tempname ();
file = fopen (name, 'w');
fwrite (file, jsonencode (batch));    % Octave writes 15 digits; sprintf ('%.17g') keeps every bit
fclose (file);
[failed, text] = system (['curl --silent --show-error --write-out "\n%{http_code}" --data-binary "@', name, ...
                          '" --header "Content-Type: application/json" ', url, '/v1/evaluate 2>&1']);
delete (name);
last = find (text == sprintf ('\n'), 1, 'last');
if failed
  error ('%s: %s; is it running?', url, strtrim (text(1:last)));
end
status = text(last + 1:end);
answer = jsondecode (text(1:last));
if ~strcmp (status, '200')
  pointer = '';
  if ~isempty (answer.errors)
    pointer = answer.errors(1).pointer;    % the JSON Pointer to the field at fault
  end
  error ('%s: %s (%s)', status, answer.detail, pointer);
end

fprintf ('%d contacts, potential %.6f N m/s\n', answer.n_collisions, answer.potential);
force = -reshape (answer.gradient, 3, []);
for i = 1:answer.n_vertices
  fprintf ('friction on vertex %d %9.5f %9.5f %9.5f N\n', i - 1, force(:, i) + 0);
end
h = answer.hessian;
rows = repelem ((1:h.shape(1))', diff (h.indptr));    % vertices and entries are counted from 0 by the service
H = sparse (rows, h.indices + 1, h.data, h.shape(1), h.shape(2));
asymmetry = full (max (max (abs (H - H'))));
fprintf ('Hessian %d x %d, %d entries, asymmetry %.1e N s/m\n', size (H), numel (h.data), asymmetry);
fprintf ('H[4, 4] = %.4f N s/m\n', full (H(5, 5)));
