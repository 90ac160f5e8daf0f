"""The MQTT 3.1.1 broker mosquitto as a black box: one client that connects, subscribes, publishes and leaves.

An output lists the kinds of packets the broker sent in the step, in order (`CONNACK:0`, `PUBLISH+SUBACK`), `-` for
none.  Each step of a connected client ends with PINGREQ, which the broker always answers: a fence that makes a step
take the time of a round trip instead of a wait for silence.  Messages that the broker sends to its only client arrive
before the answer to the fence.
"""

from bbfalsify.systems import Closed, Connection, Server, SocketSystem

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK, UNSUBSCRIBE = range(1, 11)
UNSUBACK, PINGREQ, PINGRESP, DISCONNECT = 11, 12, 13, 14
NAMES = {CONNACK: "CONNACK", PUBLISH: "PUBLISH", PUBACK: "PUBACK", PUBREC: "PUBREC", PUBREL: "PUBREL",
         PUBCOMP: "PUBCOMP", SUBACK: "SUBACK", UNSUBACK: "UNSUBACK"}  # fmt: skip
NOTHING = "-"


def packet(kind: int, body: bytes = b"", flags: int = 0) -> bytes:
    length, size = b"", len(body)
    while True:
        size, digit = divmod(size, 128)
        length += bytes([digit | (128 if size else 0)])
        if not size:
            return bytes([kind << 4 | flags]) + length + body


def text(value: str) -> bytes:
    data = value.encode()
    return len(data).to_bytes(2, "big") + data


def whole_packet(buffer: bytearray) -> bytes | None:
    """The first packet in the buffer, taken out of it, once it is complete."""
    size = shift = 0
    for position in range(1, min(len(buffer), 5)):
        size |= (buffer[position] & 127) << shift
        shift += 7
        if buffer[position] < 128:
            end = position + 1 + size
            if len(buffer) < end:
                return None
            found = bytes(buffer[:end])
            del buffer[:end]
            return found
    return None


class MqttMapper:
    """Symbols to packets and back.  Client and topic carry the session's identity, so sessions do not meet."""

    alphabet = (
        "connect_clean", "connect_persistent", "disconnect", "drop", "subscribe", "unsubscribe",
        "publish_qos0", "publish_qos1", "publish_qos2", "publish_retained", "clear_retained",
    )  # fmt: skip

    def begin(self, line: Connection, identity: str) -> None:
        self._identity, self._number = identity, 0

    def step(self, line: Connection, symbol: str) -> str:
        if symbol == "drop":  # the client vanishes: a reset connection, no DISCONNECT
            line.close(abrupt=True)
            return NOTHING
        if symbol.startswith("connect") and not line.connected:
            line.connect()
        if not line.connected:
            return "not connected"
        line.send(self._request(symbol))
        if symbol == "disconnect":
            line.close()  # waits for the broker to close, so that nothing of this connection comes later
            return NOTHING
        return self._answers(line)

    def _request(self, symbol: str) -> bytes:
        topic = text(f"t/{self._identity}")
        self._number += 1
        number = self._number.to_bytes(2, "big")
        match symbol:
            case "connect_clean" | "connect_persistent":
                clean = 2 if symbol == "connect_clean" else 0
                return packet(CONNECT, text("MQTT") + bytes([4, clean, 0, 60]) + text(self._identity))
            case "disconnect":
                return packet(DISCONNECT)
            case "subscribe":
                return packet(SUBSCRIBE, number + topic + b"\x01", flags=2)
            case "unsubscribe":
                return packet(UNSUBSCRIBE, number + topic, flags=2)
            case "publish_qos0":
                return packet(PUBLISH, topic + b"x")
            case "publish_qos1":
                return packet(PUBLISH, topic + number + b"y", flags=2)
            case "publish_qos2":
                return packet(PUBLISH, topic + number + b"w", flags=4)
            case "publish_retained":
                return packet(PUBLISH, topic + b"z", flags=1)
            case _:  # clear_retained: an empty retained message removes the one the broker keeps
                return packet(PUBLISH, topic, flags=1)

    def _answers(self, line: Connection) -> str:
        line.send(packet(PINGREQ))
        fences, seen = 1, []
        while fences:
            try:
                answer = line.receive(whole_packet)
            except Closed:
                return "+".join([*seen, "closed"])
            kind = answer[0] >> 4
            if kind == PINGRESP:
                fences -= 1
                continue
            name = NAMES.get(kind, f"packet {kind}")
            if kind == CONNACK:
                name += f":{answer[3]}" + (" session" if answer[2] & 1 else "")
            if kind == PUBLISH:
                name += " retained" if answer[0] & 1 else ""
                if answer[0] & 6:  # it wants to be acknowledged, else it comes again after a reconnect
                    end = 4 + int.from_bytes(answer[2:4], "big")
                    line.send(packet(PUBACK, answer[end : end + 2]))
            if kind == PUBREC:  # the second half of a delivery; what comes of it needs a fence of its own
                line.send(packet(PUBREL, answer[2:4], flags=2) + packet(PINGREQ))
                fences += 1
            seen.append(name)
        return "+".join(seen) or NOTHING


Adapter = SocketSystem(
    "mosquitto",
    MqttMapper(),
    server=Server(
        ["mosquitto", "-c", "{folder}/mosquitto.conf"],
        # Without set_tcp_nodelay each answer waits for the client's delayed acknowledgement.
        files={"mosquitto.conf": "listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"},
    ),
    silence_s=2.0,
)
