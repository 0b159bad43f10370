% See tests/examples/native.py.
addpath (fullfile (fileparts (mfilename ('fullpath')), '..', '..', '..', 'examples', 'octave'));
history_save (false);
words = argv ();
url = words{1};

function answer = contacts (url, vertices)
  group = struct ('vertices', vertices, 'plane_normal', [0, 0, 1], 'normal_force', 9.81 * ones (size (vertices)));
  batch = struct ('dim', 3, 'velocities', [0.02, 0.01, 0], 'friction', struct ('eps_v', 1e-3, 'mu', 0.3));
  batch.collisions = struct ('plane_vertex', group);
  batch.outputs = {'potential', 'gradient', 'collisions'};
  batch.collision_outputs = 'potential';
  answer = frictiond_evaluate (batch, url);
  printf ('%.17g\n', answer.gradient, answer.potential);
  printf ('%.17g\n', answer.collisions.plane_vertex.potential);
end

function tell (answer)
  printf ('%.17g\n', answer.potential, answer.gradient);
  printf ('%.17g\n', answer.hessian.indices, answer.hessian.data);
end

function sets (url, given)
  question = rmfield (given.question, 'velocities');
  velocities = given.question.velocities;
  contacts = frictiond_set (given.set, url, given.name);
  tell (contacts.evaluate (velocities, question));
  agrees = {'false', 'true'};
  disp (agrees{1 + contacts.check(velocities).agrees});
  printf ('%d\n', contacts.pattern ().indices);
  contacts.patch (given.patch);
  tell (contacts.evaluate (velocities, question));
  try
    contacts.patch (struct ('friction', struct ('eps_v', 0)));
  catch reason
    printf ('%s %s\n', regexp (reason.message, '^\d+', 'match', 'once'), ...
            regexp (reason.message, '(?<=\()/\S+(?=\)$)', 'match', 'once'));
  end
  contacts.patch (struct ('friction', struct ('mu', 0.5)), {'friction.mu_s', 'friction.mu_k'});
  tell (contacts.evaluate (velocities, question));
end

function carry (url, given)
  velocities = [];
  question = given.question;
  if isfield (question, 'velocities')
    velocities = question.velocities;
    question = rmfield (question, 'velocities');
  end
  contacts = frictiond_set (given.set, url);
  for step = 1:2
    answer = contacts.evaluate (velocities, question);
    for pointer = given.read'
      names = strsplit (pointer{1}(2:end), '/');
      printf ('%.17g\n', permute (getfield (answer, names{:}), [2, 1]));
    end
    if step == 1
      contacts.carry (answer, given.ratio);
    end
  end
end

function tell_derivatives (forward, backward, wrt)
  for name = {'potential', 'gradient', 'body_gradient'}
    if isfield (forward.tangents, name{1})
      printf ('%.17g\n', permute (forward.tangents.(name{1}), [2, 1]));
    end
  end
  for k = 1:numel (wrt)
    printf ('%.17g\n', permute (backward.cotangents(wrt{k}), [2, 1]));
  end
end

% Asks about the whole batch, and of a set: the same numbers twice.
function derive (url, given)
  values = struct2cell (given.values);
  tangents = [given.along(:), values(:)];
  batch = given.set;
  for name = fieldnames (given.question)'
    batch.(name{1}) = given.question.(name{1});
  end
  tell_derivatives (frictiond_jvp (batch, tangents, url), ...
                    frictiond_vjp (batch, given.cotangents, given.wrt, url), given.wrt);
  question = given.question;
  velocities = [];
  if isfield (question, 'velocities')
    velocities = question.velocities;
    question = rmfield (question, 'velocities');
  end
  contacts = frictiond_set (given.set, url);
  tell_derivatives (contacts.jvp (velocities, tangents, question), ...
                    contacts.vjp (velocities, given.cotangents, given.wrt, question), given.wrt);
end

switch words{2}
  case 'derive'
    derive (url, jsondecode (fileread (words{3})));
  case 'carry'
    carry (url, jsondecode (fileread (words{3})));
  case 'law'
    given = jsondecode (fileread (words{3}));
    printf ('%.17g\n', frictiond_function (given.name, given.parameters, url));
  case 'sets'
    sets (url, jsondecode (fileread (words{3})));
  case 'exact'
    y = sscanf (fileread (words{3}), '%f');
    values = frictiond_function ('smooth_friction_f0', struct ('y', y, 'eps_v', 1e-300), url);
    printf ('%.17g\n', values);
  case 'hessian'
    batch = jsondecode (fileread (words{3}));
    H = frictiond_hessian (frictiond_evaluate (batch, url));
    printf ('%.17g\n', full (H'));
  case 'one'
    contacts (url, 0);
  case 'none'
    contacts (url, []);
  case 'wrong'
    contacts (url, 912);
  case 'token'
    disp (frictiond_request (struct ('url', url, 'token', words{3}), '/v1/info').name);
  case 'functions'
    disp (numel (frictiond_request (url, '/v1/functions').functions));
end
