"""Puts a distance between a service and its PostgreSQL server: every byte arrives half a round trip later.

    distance.py PORT MILLISECONDS

PORT is that of the server on this machine, and MILLISECONDS is the time of a round trip. It prints its own port, and after each
SIGUSR1 the round trips and the commits so far. Connections must be without TLS (`sslmode=disable`).
"""
import asyncio
import signal
import struct
import sys
from collections.abc import Callable


class Sent:
    """What clients have sent: the ends of their pipelines (PostgreSQL, "Message Formats": Sync), each of which waits for an answer,
    and the commits of a ledger, which all insert their token."""

    def __init__(self) -> None:
        self.round_trips = self.commits = 0

    def follow(self) -> Callable[[bytes], None]:
        """A function that takes the bytes of a new connection."""
        buffer, has_started = b"", False
        tokens: set[bytes] = set()

        def take(data: bytes) -> None:
            nonlocal buffer, has_started
            buffer += data
            # The first message of a connection has no type, and begins with its length.
            while len(buffer) >= 5:
                start = 1 if has_started else 0
                end = start + struct.unpack_from(">I", buffer, start)[0]
                if len(buffer) < end:
                    return
                kind, body, buffer = buffer[:start], buffer[start + 4:end], buffer[end:]
                has_started = True
                self.round_trips += kind in (b"S", b"Q")
                if kind == b"P":
                    name, sql = body.split(b"\0")[:2]
                    if sql.startswith(b"INSERT INTO ledger_commit"):
                        tokens.add(name)
                elif kind == b"B":
                    self.commits += body.split(b"\0", 2)[1] in tokens

        return take


async def pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float, take: Callable[[bytes], None]
) -> None:
    """Writes what a connection reads, a delay later and in order, until its end."""
    loop = asyncio.get_running_loop()
    late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def write() -> None:
        while True:
            moment, data = await late.get()
            if (rest := moment - loop.time()) > 0:
                await asyncio.sleep(rest)
            if not data:
                return writer.close()
            writer.write(data)
            await writer.drain()

    writing = asyncio.create_task(write())
    data = b"-"
    while data:
        try:
            data = await reader.read(1 << 16)
        except ConnectionError:
            data = b""
        take(data)
        late.put_nowait((loop.time() + delay, data))
    await asyncio.gather(writing, return_exceptions=True)


async def main(port: int, round_trip: float) -> None:
    sent = Sent()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(
            pass_on(reader, server_writer, round_trip / 2, sent.follow()),
            pass_on(server_reader, writer, round_trip / 2, lambda data: None))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGUSR1, lambda: print(sent.round_trips, sent.commits, flush=True))
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]) / 1000))
