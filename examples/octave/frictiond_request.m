function [answer, version, lost] = frictiond_request (service, path, document, method, version)
  % FRICTIOND_REQUEST  one request to frictiond: POST with a document, GET without.
  %
  %   info = frictiond_request ('http://127.0.0.1:8080', '/v1/info');
  %   answer = frictiond_request (service, '/v1/check', batch);
  %
  % service    the URL, or a struct with the fields url, token ('' for none), retries (5), timeout (300 s). The URL may
  %            be that of a Unix-domain socket: http+unix:///run/frictiond/socket
  % document   a struct of the form that docs/api.md describes (vertices are numbered from 0). Matrices are sent row
  %            by row; a single number is sent as a number, except in the fields that are always lists (LISTS below);
  %            a cell is always a list. The cell with two columns in the field tangents has pointers and values, see
  %            FRICTIOND_JVP
  % method, version, lost    for collision sets: see FRICTIOND_SET
  % answer     a struct. Vectors are columns, an array of shape [n, m] is an n x m matrix.
  %
  % Numbers are written with 17 digits and read by sscanf, so that doubles are the same at both ends: jsonencode writes
  % fewer digits, and Octave's jsondecode may get the last one wrong.
  %
  % A refused request is an error with the identifier frictiond:http422 (or another status); its message ends with the
  % pointer to the culprit. A busy service (429, 502, 503, 504) or a failed connection is tried again before the error
  % frictiond:http503 or frictiond:unreachable is raised.
  %
  % Runs in Octave 7, and uses nothing that MATLAB lacks. Needs curl, because webwrite hides the body of an error.

  if ~isstruct (service)
    service = struct ('url', regexprep (char (service), '/$', ''));
  end
  defaults = struct ('url', 'http://127.0.0.1:8080', 'token', '', 'retries', 5, 'timeout', 300);
  for name = fieldnames (defaults)'
    if ~isfield (service, name{1})
      service.(name{1}) = defaults.(name{1});
    end
  end
  text = '';
  given = nargin > 2 && ~isempty (document);
  if given
    text = encode ('', document);
  end
  if nargin < 4
    method = 'GET';
    if given
      method = 'POST';
    end
  end
  if nargin < 5
    version = '';
  end
  for attempt = 0:service.retries
    [status, body, seconds, words, busy, fields] = transfer (service, path, text, method, version);
    if ~busy || attempt == service.retries
      break;
    end
    pause (min (max (seconds, 0.1 * 2 ^ attempt), 10));
  end
  answer = [];
  lost = nargout > 2 && any (strcmp (code_of (status, body), {'unknown_set', 'set_changed'}));
  version = field (fields, 'Collision-Set-Version');
  if lost
    return;
  elseif status == 0
    error ('frictiond:unreachable', 'no answer from %s: %s', service.url, words);
  elseif ~any (status == [200, 201, 204])
    refuse (status, body);
  elseif status == 204
    return;
  elseif given || strncmp (path, '/v1/sets/', 9)
    answer = decode (body);
    if given && isfield (document, 'wrt') && isfield (answer, 'cotangents')
      answer.cotangents = by_pointer (answer.cotangents, cellstr (document.wrt));
    end
  else
    answer = jsondecode (body);
  end
end

% jsondecode makes names of pointers that are valid in a struct.
function map = by_pointer (values, pointers)
  names = matlab.lang.makeValidName (pointers);
  map = containers.Map ('KeyType', 'char', 'ValueType', 'any');
  for k = 1:numel (pointers)
    map(pointers{k}) = values.(names{k});
  end
end

function code = code_of (status, body)
  code = '';
  if any (status == [404, 412])
    try
      problem = jsondecode (body);
      code = problem.code;
    catch
      % a proxy's page
    end
  end
end

function refuse (status, body)
  detail = 'the answer is not from frictiond';
  pointer = '';
  try
    problem = jsondecode (body);
    detail = problem.detail;
    if ~isempty (problem.errors)
      pointer = sprintf (' (%s)', problem.errors(1).pointer);
    end
  catch
    % a proxy's page
  end
  error (sprintf ('frictiond:http%d', status), '%d: %s%s', status, detail, pointer);
end

function text = encode (name, value)
  LISTS = {'vertices', 'bodies', 'closest_point', 'vertex_mu', 'vertex_mu_s', 'vertex_mu_k', 'vertex_material', ...
           'body_material', 'steps', 'outputs', 'collision_outputs', 'wrt'};
  if isstring (value)    % MATLAB's "text"
    value = cellstr (value);
    if isscalar (value)
      value = value{1};
    end
  end
  if isa (value, 'function_handle')    % frictiond_set removes a field
    text = 'null';
  elseif isstruct (value) && isscalar (value)
    names = fieldnames (value);
    members = cellfun (@(key) ['"', key, '":', encode(key, value.(key))], names, 'UniformOutput', false);
    text = ['{', strjoin(members(:)', ','), '}'];
  elseif iscell (value) && strcmp (name, 'tangents')
    fields = regexprep (value(:, 1), '.*/', '');
    members = cellfun (@(pointer, field, part) ['"', pointer, '":', encode(field, part)], value(:, 1), fields, ...
                       value(:, 2), 'UniformOutput', false);
    text = ['{', strjoin(members(:)', ','), '}'];
  elseif iscell (value)
    entries = cellfun (@(entry) encode ('', entry), value, 'UniformOutput', false);
    text = ['[', strjoin(entries(:)', ','), ']'];
  elseif ischar (value)
    text = jsonencode (value);
  elseif islogical (value) && isscalar (value)
    text = jsonencode (value);
  elseif ~isnumeric (value) || any (~isfinite (value(:)))
    error ('frictiond:input', '%s must be finite numbers, text, true, false, a struct or a cell', name);
  elseif isempty (value)
    text = '[]';
  else
    by_rows = permute (double (full (value)), ndims (value):-1:1);
    text = sprintf ('%.17g,', by_rows);
    text(end) = [];
    if ~isscalar (value)
      text = ['[', text, ']'];
    end
  end
  if any (strcmp (name, LISTS)) && text(1) ~= '['
    text = ['[', text, ']'];
  end
end

% Takes numbers and arrays of numbers out of the text before jsondecode sees it, and puts them back afterwards.
function answer = decode (text)
  [numbers, rest] = regexp (text, '(?<=":)(\[[-+.0-9eE,\[\]]*\]|-?[0-9][-+.0-9eE]*)', 'match', 'split');
  places = cellfun (@(place) sprintf ('%d', place), num2cell (1:numel (numbers)), 'UniformOutput', false);
  pieces = [rest; [places, {''}]];
  answer = put_back (jsondecode ([pieces{:}]), numbers);
end

function value = put_back (value, numbers)
  if isstruct (value)
    for k = 1:numel (value)
      for name = fieldnames (value)'
        value(k).(name{1}) = put_back (value(k).(name{1}), numbers);
      end
    end
  elseif isnumeric (value) && isscalar (value)
    value = array (numbers{value});
  end
end

% Reads text like 1.5, [1,2], [[1,2],[3,4]] or [[[1],[2]],[[3],[4]]].
function value = array (text)
  opening = text == '[';
  n_lists = sum (opening);
  text(opening | text == ']' | text == ',') = ' ';
  value = sscanf (text, '%f');
  if n_lists > 1 && ~isempty (value)
    n = n_lists - 1;
    if opening(3)
      n = sum (opening(1:end - 1) & opening(2:end)) - 1;
    end
    rows = max ((n_lists - 1) / n - 1, 1);
    value = permute (reshape (value, [], rows, n), [3, 2, 1]);
    if ~opening(3)
      value = reshape (value, n, []);
    end
  end
end

% status 0: no answer came, and words says why. seconds: when to try again, if the service says so. busy: trying again
% is worthwhile.
function [status, body, seconds, words, busy, fields] = transfer (service, path, text, method, version)
  folder = tempname ();
  mkdir (folder);
  if isunix ()
    system (['chmod 700 "', folder, '"']);    % the token is written into it
  end
  file = @(name) fullfile (folder, name);
  clean = onCleanup (@() remove (folder));
  base = service.url;
  place = regexp (base, '^http\+unix://(.*)', 'tokens', 'once');
  if ~isempty (place)
    base = 'http://localhost';
  end
  lines = {'silent', 'show-error', 'globoff', option('url', [base, path]), 'header = "Expect:"', ...
           option('request', method), option('output', file ('body')), option('dump-header', file ('head')), ...
           option('stderr', file ('words')), ...
           sprintf('max-time = %g', service.timeout), 'write-out = "%{http_code}"'};
  if ~isempty (place)
    lines{end + 1} = option ('unix-socket', place{1});
  end
  if ~isempty (version)
    lines{end + 1} = option ('header', ['If-Collision-Set-Version: ', version]);
  end
  if ~isempty (service.token)
    lines{end + 1} = option ('header', ['Authorization: Bearer ', service.token]);
  end
  if ~isempty (text)
    store (file ('text'), text);
    lines = [lines, {option('data-binary', ['@', file('text')]), 'header = "Content-Type: application/json"'}];
  end
  store (file ('options'), strjoin (lines, sprintf ('\n')));
  command = ['curl --config "', file('options'), '"'];
  if isunix ()
    command = ['LD_LIBRARY_PATH= ', command];    % MATLAB's libraries do not work with the system's curl
  end
  [code, printed] = system (command);
  status = str2double (printed);
  body = load_text (file ('body'));
  words = strtrim (load_text (file ('words')));
  if code == 7
    words = [words, '; is it running?'];
  end
  if code ~= 0 || isnan (status)
    status = 0;
  end
  % curl's 7: connection refused; 18, 52: incomplete answer, none; 55, 56: sending, receiving failed
  busy = any (status == [429, 502, 503, 504]) || any (code == [7, 18, 52, 55, 56]);
  fields = load_text (file ('head'));
  seconds = sscanf (field (fields, 'Retry-After'), '%d', 1);
  if isempty (seconds)
    seconds = 0;
  end
end

function value = field (fields, name)
  value = regexpi (fields, ['^', name, ':\s*(\S+)'], 'tokens', 'once', 'lineanchors');
  if isempty (value)
    value = '';
  else
    value = value{1};
  end
end

function line = option (name, value)
  if any (value < ' ')
    error ('frictiond:input', '%s has a control character', name);
  end
  line = sprintf ('%s = "%s"', name, strrep (strrep (value, '\', '\\'), '"', '\"'));
end

function store (name, text)
  file = fopen (name, 'w');
  if file < 0
    error ('frictiond:input', 'cannot write %s', name);
  end
  fwrite (file, text);
  fclose (file);
end

function text = load_text (name)
  text = '';
  if exist (name, 'file')
    text = fileread (name);
  end
end

function remove (folder)
  for name = {'body', 'head', 'words', 'text', 'options'}
    if exist (fullfile (folder, name{1}), 'file')
      delete (fullfile (folder, name{1}));
    end
  end
  rmdir (folder);
end
