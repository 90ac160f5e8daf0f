"""Black boxes: their interface, kinds of systems (functions, programs, servers, FMUs, models), loading and checks.

Servers, FMUs and models are imported when they are first used.
"""

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.systems.failures import MalformedAnswer as MalformedAnswer
    from bbfalsify.systems.failures import NoAnswer as NoAnswer
    from bbfalsify.systems.failures import SessionFailure as SessionFailure
    from bbfalsify.systems.failures import SystemDied as SystemDied
    from bbfalsify.systems.fmu import FmuSystem as FmuSystem
    from bbfalsify.systems.function import FunctionSystem as FunctionSystem
    from bbfalsify.systems.function import system as system
    from bbfalsify.systems.gym import GymSystem as GymSystem
    from bbfalsify.systems.interface import Capabilities as Capabilities
    from bbfalsify.systems.interface import CapabilityMissing as CapabilityMissing
    from bbfalsify.systems.interface import Port as Port
    from bbfalsify.systems.interface import Session as Session
    from bbfalsify.systems.interface import StepwiseSession as StepwiseSession
    from bbfalsify.systems.interface import System as System
    from bbfalsify.systems.interface import Usage as Usage
    from bbfalsify.systems.interface import require_capability as require_capability
    from bbfalsify.systems.loading import load_system as load_system
    from bbfalsify.systems.output_checks import check_outputs as check_outputs
    from bbfalsify.systems.parameters import ParameterInfo as ParameterInfo
    from bbfalsify.systems.parameters import Preset as Preset
    from bbfalsify.systems.programs.octave import matlab_command as matlab_command
    from bbfalsify.systems.programs.octave import octave_command as octave_command
    from bbfalsify.systems.programs.one_shot import ProgramSystem as ProgramSystem
    from bbfalsify.systems.programs.persistent import ProcessSymbolSystem as ProcessSymbolSystem
    from bbfalsify.systems.programs.persistent import ProcessSystem as ProcessSystem
    from bbfalsify.systems.sampled import SampledSystem as SampledSystem
    from bbfalsify.systems.servers import BytesMapper as BytesMapper
    from bbfalsify.systems.servers import Closed as Closed
    from bbfalsify.systems.servers import Connection as Connection
    from bbfalsify.systems.servers import LineMapper as LineMapper
    from bbfalsify.systems.servers import Server as Server
    from bbfalsify.systems.servers import Silence as Silence
    from bbfalsify.systems.servers import SocketSystem as SocketSystem
    from bbfalsify.systems.servers import Tls as Tls
    from bbfalsify.systems.servers.http import HttpCall as HttpCall
    from bbfalsify.systems.servers.http import HttpSystem as HttpSystem
    from bbfalsify.systems.symbol_class import symbol_system as symbol_system
    from bbfalsify.systems.symbols import MachineSystem as MachineSystem
    from bbfalsify.systems.symbols import SymbolSession as SymbolSession
    from bbfalsify.systems.symbols import SymbolSystem as SymbolSystem
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
