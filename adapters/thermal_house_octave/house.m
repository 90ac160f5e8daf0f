function outputs = house(times, inputs)
% The thermal house of adapters/thermal_house in Octave: the same constants, the same exact solution.
%
% Heater on: T' = a (50 - T) - b (T - T_out).  Heater off: T' = -b (T - T_out).  The thermostat switches on at 65 degF
% and off at 75 degF.  Time is in hours.  T_out is read at the first sample of every hour and held until the next, so T
% is an exponential between two switches, and the moment of a switch is a logarithm.

  persistent a b on_below off_above
  if isempty(a)
    [a, b] = rates();
    on_below = (65 - 32) * 5 / 9;
    off_above = (75 - 32) * 5 / 9;
  end
  outdoor = inputs.T_out;
  hours = floor(times);
  steps = [diff(times); 0];
  T = zeros(size(times));
  room = 20;
  heating = false;
  hour = -1;
  for i = 1:numel(times)
    T(i) = room;
    if hours(i) > hour
      hour = hours(i);
      held = outdoor(i);
    end
    left = steps(i);
    while left > 0
      if heating
        rate = a + b;
        target = (a * 50 + b * held) / rate;
        threshold = off_above;
        passes = target > threshold;
      else
        rate = b;
        target = held;
        threshold = on_below;
        passes = target < threshold;
      end
      until_switch = Inf;
      if passes
        until_switch = log((room - target) / (threshold - target)) / rate;
      end
      if until_switch < left
        room = threshold;
        heating = ~heating;
        left = left - max(until_switch, 0);
      else
        room = target + (room - target) * exp(-rate * left);
        left = 0;
      end
    end
  end
  outputs.T = T;
end

function [heating_rate, loss_rate] = rates()
% a: how fast the heater replaces the air, b: how fast the house follows the weather [1/h].
  len = 30; width = 10; height = 4; pitch = 40 * pi / 180;
  windows = 6;
  walls = 2 * len * height + 2 * width * height + 2 * (1 / cos(pitch / 2)) * width * len + tan(pitch) * width - windows;
  volume = len * width * height + tan(pitch) * width * len;
  wall = 0.2 / (0.038 * 3600 * walls);
  window = 0.01 / (0.78 * 3600 * windows);
  resistance = wall * window / (wall + window);
  air = volume * 1.2250;
  heating_rate = 3600 / air;
  loss_rate = 1 / (resistance * air * 1005.4);
end
