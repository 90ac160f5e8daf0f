"""Servers as black boxes: started by us, spoken to over a socket, symbols mapped to bytes."""

from bbfalsify.systems.servers.mappers import BytesMapper, LineMapper, Mapper
from bbfalsify.systems.servers.server import Server
from bbfalsify.systems.servers.sockets import SocketSystem

__all__ = ["BytesMapper", "LineMapper", "Mapper", "Server", "SocketSystem"]
