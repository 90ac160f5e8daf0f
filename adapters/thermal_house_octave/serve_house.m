% Serves the house to bbfalsify; adapter.py starts it.
description.name = 'thermal_house';
description.inputs.T_out = 'degC';
description.outputs.T = 'degC';
bbfalsify_serve(description, @house);
