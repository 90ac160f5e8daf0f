"""Models: networks of automata, their language, readers and builder, and profiles of use.

    load_network, parse_network      YAML or UPPAAL → Network; load_model: and the queries stored in the file
    load_profile, parse_profile      YAML → Profile (a network that drives a system's inputs)
    value_profile                    a profile of signals and parameters, drawn by laws
    NetworkBuilder                   a network in a few lines of Python
    parse_expression                 an expression over a finished network (inputs)
    parse_condition                  a condition over a finished network (queries)
    check_profile                    errors in the structure of a profile
    profile_parameters               the weights and rates of a profile, by name
    describe_network                 a summary in numbers

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.modelling.formats.model_files import load_model as load_model
    from bbfalsify.modelling.formats.model_files import load_network as load_network
    from bbfalsify.modelling.formats.python_builder import AutomatonBuilder as AutomatonBuilder
    from bbfalsify.modelling.formats.python_builder import NetworkBuilder as NetworkBuilder
    from bbfalsify.modelling.language.resolve import parse_condition as parse_condition
    from bbfalsify.modelling.language.resolve import parse_expression as parse_expression
    from bbfalsify.modelling.network.network import Network as Network
    from bbfalsify.modelling.network.summary import describe_network as describe_network
    from bbfalsify.modelling.profiles.profile import ComputedInput as ComputedInput
    from bbfalsify.modelling.profiles.profile import HeldInput as HeldInput
    from bbfalsify.modelling.profiles.profile import Profile as Profile
    from bbfalsify.modelling.profiles.profile import load_profile as load_profile
    from bbfalsify.modelling.profiles.profile import parse_network as parse_network
    from bbfalsify.modelling.profiles.profile import parse_profile as parse_profile
    from bbfalsify.modelling.profiles.profile import value_profile as value_profile
    from bbfalsify.modelling.profiles.profile import with_values as with_values
    from bbfalsify.modelling.profiles.profile_checks import check_profile as check_profile
    from bbfalsify.modelling.profiles.profile_parameters import Parameter as Parameter
    from bbfalsify.modelling.profiles.profile_parameters import profile_parameters as profile_parameters
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
