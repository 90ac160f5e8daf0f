"""pyftpdlib as a server process of its own: `python server.py PORT FOLDER`; user `user`, password `12345`."""

import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer


def serve(port: int, folder: str) -> None:
    users = DummyAuthorizer()
    users.add_user("user", "12345", folder, perm="elradfmw")
    handler = FTPHandler
    handler.authorizer = users
    handler.auth_failed_timeout = 0  # a pause after a wrong password would only slow the test
    FTPServer(("127.0.0.1", port), handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
