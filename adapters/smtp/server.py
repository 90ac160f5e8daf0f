"""aiosmtpd as a server process of its own: `python server.py PORT`.  Mail is accepted and thrown away."""

import asyncio
import sys

from aiosmtpd.smtp import SMTP


class Sink:
    """Takes every message."""

    async def handle_DATA(self, server, session, envelope):
        return "250 OK"


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Sink(), enable_SMTPUTF8=False), "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
