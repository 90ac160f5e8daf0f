"""Servers as black boxes: started here, contacted over a socket, with a mapper between symbols and bytes."""

from bbfalsify.systems.servers.connections import Closed, Connection, Silence, Tls
from bbfalsify.systems.servers.mappers import BytesMapper, LineMapper, Mapper
from bbfalsify.systems.servers.server import Server
from bbfalsify.systems.servers.sockets import SocketSystem

__all__ = ["BytesMapper", "Closed", "Connection", "LineMapper", "Mapper", "Server", "Silence", "SocketSystem", "Tls"]
