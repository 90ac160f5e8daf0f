"""What tests of more than one room share, and what a test run in two processes (`pytest -n 2`) needs."""

import compileall
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import bbfalsify
from tests.drawing import draw_the_same_everywhere
from tests.fmus.building import FmuFactory

draw_the_same_everywhere()
# There, commands annotate what they find; tests that want it say so, and the others run on GitHub, too.
os.environ.pop("GITHUB_ACTIONS", None)
# In the background of a shell Ctrl-C is ignored, and tests that press it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Of a module that a test writes twice within a second, Python would take the first version from its cache: nothing is
# cached while tests run.  Before, it is: rewritten tests here, and our modules for the hundreds of processes to come.
sys.dont_write_bytecode = False
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture(scope="session")
def fmus(tmp_path_factory):
    """`fmus.build("heater")` is the path of an FMU, built at its first use."""
    return FmuFactory(tmp_path_factory.mktemp("fmus"))


def pytest_sessionstart(session):
    """Compile once, before other processes start: each of them would compile the same code at the same time."""
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(Path(bbfalsify.__file__).parent, quiet=2)
    if session.config.getoption("numprocesses", None):
        from bbfalsify.running.warm_up import compile_everything, is_compiled

        if not is_compiled():
            reporter = session.config.pluginmanager.get_plugin("terminalreporter")
            reporter.write_line("compiling the simulation kernel, once ...")
            compile_everything()


def pytest_collection_finish():
    sys.dont_write_bytecode = True


# --- in two processes -------------------------------------------------------------------------------------------------


def pytest_deselected(items):
    """pytest-xdist does not tell how many tests were left out; the processes know, and pass it on when they end."""
    for config in {item.config for item in items}:
        if hasattr(config, "workeroutput"):
            config.workeroutput.setdefault("deselected", []).extend(item.nodeid for item in items)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    reporter = node.config.pluginmanager.get_plugin("terminalreporter")
    left_out = getattr(node, "workeroutput", {}).get("deselected", [])
    reporter.stats["deselected"] = [SimpleNamespace(nodeid=name) for name in left_out]
