"""The FTP server pyftpdlib as a black box: commands of the control connection, the reply code is the output.

Folders are named after the session: what one session makes, no other sees.
"""

import sys
from pathlib import Path

from bbfalsify.systems import LineMapper, Server, SocketSystem

REQUESTS = {
    "user": "USER user",
    "pass": "PASS 12345",
    "wrong_pass": "PASS 54321",
    "pwd": "PWD",
    "mkdir": "MKD d-{id}",
    "rmdir": "RMD d-{id}",
    "rename_from": "RNFR d-{id}",
    "rename_to": "RNTO e-{id}",
    "noop": "NOOP",
    "quit": "QUIT",
}

Adapter = SocketSystem(
    "ftp",
    LineMapper(REQUESTS, banner=True, closing={"quit"}),
    server=Server([sys.executable, str(Path(__file__).parent / "server.py"), "{port}", "{folder}"]),
    silence_s=2.0,
)
