"""The SMTP server aiosmtpd as a black box: one command per step, the reply code is the output."""

import sys
from pathlib import Path

from bbfalsify.systems import LineMapper, Server, SocketSystem

REQUESTS = {
    "helo": "HELO client.example",
    "ehlo": "EHLO client.example",
    "mail": "MAIL FROM:<{id}@example.org>",
    "rcpt": "RCPT TO:<reader@example.org>",
    "data": "DATA",
    "content": "Subject: hello\r\n\r\nhello\r\n.",
    "rset": "RSET",
    "noop": "NOOP",
    "quit": "QUIT",
}


class SmtpMapper(LineMapper):
    """While the server expects DATA's content, whatever is sent is content: the whole symbol is sent as one line of it.

    A content that comes when none is expected would be several commands, each with an answer of its own.  One step is
    one answer, so it is sent then as one (unknown) command.
    """

    def begin(self, line, identity):
        self._expects_content = False
        super().begin(line, identity)

    def request(self, symbol):
        if symbol == "content" and not self._expects_content:
            return "HELLO"
        if symbol != "content" and self._expects_content:
            return f"{super().request(symbol)}\r\n."  # this, too, ends the content
        return super().request(symbol)

    def ends(self, symbol, output):
        return output == "221"  # a QUIT within the content is a line of the mail

    def step(self, line, symbol):
        output = super().step(line, symbol)
        self._expects_content = output == "354"
        return output


Adapter = SocketSystem(
    "smtp",
    SmtpMapper(REQUESTS, banner=True),
    server=Server([sys.executable, str(Path(__file__).parent / "server.py"), "{port}"]),
    silence_s=2.0,
)
