function bbfalsify_serve(description, functions)
% BBFALSIFY_SERVE  Answer bbfalsify's requests until it is done: the line protocol for Octave (7 or later) and MATLAB.
%
%   description   what the system is, as a struct:
%     .name           its name
%     .inputs         struct: the name of each input with its unit, '' where it has none
%     .outputs        struct: the name of each output with its unit
%     .alphabet       instead of inputs and outputs: a cell array of input symbols
%     .capabilities   optional struct: seedable, real_time, grid_period_s, step_s
%
%   functions     how to use it: a function that takes whole signals,
%                     outputs = run(times, inputs)            or  run(times, inputs, request)
%                 or a struct with .run, or with .reset and .step:
%                     [state, outputs] = reset(seed)          at time 0; for symbols: state = reset(seed)
%                     [state, outputs] = step(state, inputs, duration)
%                     [state, symbol]  = step(state, symbol)
%
%   times is a column of sample times, inputs a struct of columns: inputs.heat(i) holds from times(i) until times(i+1).
%   outputs is a struct with one vector (one number, in a step) for each output.  request has .seed, .events.times and
%   .events.names.  What is printed goes to standard error.  An error ends the simulation, not the program.

  if isa(functions, 'function_handle')
    functions = struct('run', functions);
  end
  octave = exist('OCTAVE_VERSION', 'builtin') > 0;
  reader = [];
  if octave
    sigterm_dumps_octave_core(false);
    sighup_dumps_octave_core(false);
  else
    % matlab -batch refuses input(); its Java reads standard input all the same.
    reader = java.io.BufferedReader(java.io.InputStreamReader(java.lang.System.in, 'UTF-8'));
  end
  say(octave, hello(description, functions));
  state = [];
  while true
    [line, ended] = next_line(octave, reader);
    if ended
      return
    end
    request = jsondecode(line);
    if strcmp(request.request, 'close')
      say(octave, sprintf('{"id":%d}', request.id));
      return
    end
    try
      [printed, state, answer] = evaluate(functions, request, state);
      if ~isempty(printed)
        fprintf(2, '%s', printed);
      end
      reply = sprintf('{"id":%d%s}', request.id, answer);
    catch failure
      reply = sprintf('{"id":%d,"error":%s}', request.id, jsonencode(place(failure)));
    end
    say(octave, reply);
  end
end

function text = hello(description, functions)
  if isfield(description, 'alphabet')
    ports = sprintf('"alphabet":[%s]', strjoin(cellfun(@jsonencode, description.alphabet(:)', 'UniformOutput', false), ','));
  else
    ports = sprintf('"inputs":%s,"outputs":%s', units(description.inputs), units(description.outputs));
  end
  capabilities = struct();
  if isfield(description, 'capabilities')
    capabilities = description.capabilities;
  end
  capabilities.run = isfield(functions, 'run');
  capabilities.stepwise = isfield(functions, 'step');
  text = sprintf('{"bbfalsify":1,"name":%s,%s,"capabilities":%s}', ...
                 jsonencode(description.name), ports, jsonencode(capabilities));
end

function text = units(ports)
  members = {};
  names = fieldnames(ports);
  for i = 1:numel(names)
    unit = ports.(names{i});
    if isempty(unit)
      shown = 'null';
    else
      shown = jsonencode(unit);
    end
    members{end + 1} = sprintf('%s:%s', jsonencode(names{i}), shown);
  end
  text = ['{' strjoin(members, ',') '}'];
end

function [printed, state, answer] = evaluate(functions, request, state)
% Everything that is printed on the way is caught, so that it cannot be taken for an answer.
  printed = evalc('[state, answer] = respond(functions, request, state);');
end

function [state, answer] = respond(functions, request, state)
  switch request.request
    case 'run'
      times = request.times(:);
      if abs(nargin(functions.run)) == 2
        outputs = functions.run(times, request.inputs);
      else
        outputs = functions.run(times, request.inputs, request);
      end
      answer = [',"outputs":' signals(outputs, true)];
    case 'reset'
      if abs(nargout(functions.reset)) == 1
        state = functions.reset(request.seed);
        answer = '';
      else
        [state, outputs] = functions.reset(request.seed);
        answer = [',"outputs":' signals(outputs, false)];
      end
    case 'step'
      if isfield(request, 'symbol')
        [state, symbol] = functions.step(state, request.symbol);
        answer = [',"symbol":' jsonencode(symbol)];
      else
        [state, outputs] = functions.step(state, request.inputs, request.duration);
        answer = [',"outputs":' signals(outputs, false)];
      end
    otherwise
      error('this program does not know the request "%s"', request.request);
  end
end

function text = signals(outputs, as_lists)
  members = {};
  names = fieldnames(outputs);
  for i = 1:numel(names)
    values = outputs.(names{i});
    if ~(isnumeric(values) || islogical(values)) || ~isreal(values)
      error('the output "%s" is not made of real numbers', names{i});
    end
    % All 17 digits, which jsonencode does not promise; JSON as bbfalsify reads it knows NaN and Infinity.
    list = sprintf(',%.17g', double(values(:)));
    if any(~isfinite(values(:)))
      list = strrep(list, 'Inf', 'Infinity');
    end
    if isempty(values)
      list = ',';
    end
    if as_lists
      members{end + 1} = sprintf('%s:[%s]', jsonencode(names{i}), list(2:end));
    else
      members{end + 1} = sprintf('%s:%s', jsonencode(names{i}), list(2:end));
    end
  end
  text = ['{' strjoin(members, ',') '}'];
end

function text = place(failure)
  text = failure.message;
  if ~isempty(failure.stack)
    text = sprintf('%s (%s:%d)', text, failure.stack(1).name, failure.stack(1).line);
  end
end

function [line, ended] = next_line(octave, reader)
% input(), because fgetl(stdin) looks beyond the end of the line and would wait for the next one.
  ended = false;
  if octave
    try
      line = input('', 's');
    catch
      line = '';
      ended = true;
    end
  else
    line = reader.readLine();
    ended = isempty(line);
    line = char(line);
  end
end

function say(octave, text)
  fprintf(1, '%s\n', text);
  if octave
    fflush(stdout);
  end
end
