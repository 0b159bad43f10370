classdef frictiond_set < handle
  % FRICTIOND_SET  contacts that the service prepares once, to be asked about many times.
  %
  %   contacts = frictiond_set (batch, 'http://127.0.0.1:8080');
  %   for k = 1:n
  %     answer = contacts.evaluate (velocities, struct ('outputs', {{'gradient'}}));
  %   end
  %   contacts.patch (struct ('positions', positions));    % lagged again
  %   delete (contacts);
  %
  % The set is deleted by delete, or when the last variable that holds it is cleared or goes out of scope. A third
  % argument is its name; otherwise one that is free is made up. service is that of FRICTIOND_REQUEST.
  %
  % batch has the fields of an evaluation without velocities, outputs and their options; if no other field says how many
  % vertices there are, it needs n_vertices. The service may forget a set, and another program may replace one of the
  % same name: what has been sent is remembered, and sent again when needed.

  properties (SetAccess = private)
    name = '';
    version = '';    % as the service says it
  end

  properties (Access = private)
    service
    batch = struct ();
    held = false;
  end

  methods
    function self = frictiond_set (batch, service, name)
      if nargin < 2
        service = 'http://127.0.0.1:8080';
      end
      if nargin < 3
        [folder, file] = fileparts (tempname ());
        name = sprintf ('%s-%.0f', file, now () * 86400e3);
      end
      if isempty (regexp (name, '^[-\w.~]+$', 'once'))
        error ('frictiond:input', '"%s" is not a name: use letters, digits, _, -, . and ~', name);
      end
      self.service = service;
      self.name = name;
      self.put (batch);
    end

    % question: a struct with outputs and their options, and body_velocities where there are bodies. velocities: []
    % where there are no vertices.
    function answer = evaluate (self, velocities, question)
      if nargin < 3
        question = struct ();
      end
      if ~isempty (velocities)
        question.velocities = velocities;
      end
      answer = self.ask ('POST', '/evaluate', question);
    end

    function answer = check (self, velocities, question)
      if nargin < 3
        question = struct ();
      end
      if ~isempty (velocities)
        question.velocities = velocities;
      end
      answer = self.ask ('POST', '/check', question);
    end

    % Derivatives by fields of the set or of the question: see FRICTIOND_JVP and FRICTIOND_VJP.
    function answer = jvp (self, velocities, tangents, question)
      if nargin < 4
        question = struct ();
      end
      if ~isempty (velocities)
        question.velocities = velocities;
      end
      question.tangents = tangents;
      answer = self.ask ('POST', '/jvp', question);
    end

    function answer = vjp (self, velocities, cotangents, wrt, question)
      if nargin < 5
        question = struct ();
      end
      if ~isempty (velocities)
        question.velocities = velocities;
      end
      question.cotangents = cotangents;
      question.wrt = wrt;
      answer = self.ask ('POST', '/vjp', question);
    end

    % The Hessian without its numbers: form 'csr', 'bsr' or 'triplets', triangle 'full', 'upper' or 'lower'.
    function answer = pattern (self, form, triangle)
      if nargin < 2
        form = 'csr';
      end
      if nargin < 3
        triangle = 'full';
      end
      answer = self.ask ('GET', ['/pattern?format=', form, '&triangle=', triangle], []);
    end

    % Replaces all of the set.
    function put (self, batch)
      [answer, self.version] = frictiond_request (self.service, self.path (), batch, 'PUT');
      self.batch = batch;
      self.held = true;
    end

    % Replaces the fields of a struct, and removes others: contacts.patch (struct (), {'friction.mu_s', 'barrier'}).
    % Refused fields leave the set as it was.
    function patch (self, fields, removed)
      if nargin < 3
        removed = {};
      end
      for k = 1:numel (removed)
        names = strsplit (removed{k}, '.');
        fields = setfield (fields, names{:}, @null);    % which frictiond_request writes as null
      end
      batch = frictiond_set.merge (self.batch, fields);
      [answer, version, lost] = frictiond_request (self.service, self.path (), fields, 'PATCH', self.version);
      if lost
        self.put (batch);
      else
        self.batch = batch;
        self.version = version;
      end
    end

    % Patches the anchors with those of an answer (outputs: collisions, collision_outputs: anchor): what the sticking contacts remember in
    % the next step. ratio: this step's length divided by the next one's, if velocities are velocities. The next step's
    % contacts must be the same; anchors of others are yours to match.
    function carry (self, answer, ratio)
      if nargin < 3
        ratio = 1;
      end
      anchors = struct ();
      for name = fieldnames (answer.collisions)'
        group = answer.collisions.(name{1});
        if isfield (group, 'anchor')
          anchors.(name{1}) = struct ('anchor', ratio * group.anchor);
        end
      end
      if isempty (fieldnames (anchors))
        error ('frictiond:input', 'the answer has no anchors: ask for outputs collisions and collision_outputs anchor');
      end
      self.patch (struct ('collisions', anchors));
    end

    function delete (self)
      if self.held
        self.held = false;
        try
          [answer, version, lost] = frictiond_request (self.service, self.path (), [], 'DELETE', self.version);
        catch
          % the service forgets it in time
        end
      end
    end
  end

  methods (Access = private)
    function text = path (self)
      text = ['/v1/sets/', self.name];
    end

    function answer = ask (self, method, action, question)
      path = [self.path(), action];
      for put = 1:3
        [answer, version, lost] = frictiond_request (self.service, path, question, method, self.version);
        if ~lost
          return;
        end
        self.put (self.batch);
      end
      answer = frictiond_request (self.service, path, question, method, self.version);
    end
  end

  methods (Static, Access = private)
    % RFC 7396.
    function target = merge (target, patch)
      if ~isstruct (patch)
        target = patch;
        return;
      end
      if ~isstruct (target)
        target = struct ();
      end
      for name = fieldnames (patch)'
        value = patch.(name{1});
        if ~isa (value, 'function_handle')
          old = [];
          if isfield (target, name{1})
            old = target.(name{1});
          end
          target.(name{1}) = frictiond_set.merge (old, value);
        elseif isfield (target, name{1})
          target = rmfield (target, name{1});
        end
      end
    end
  end
end
