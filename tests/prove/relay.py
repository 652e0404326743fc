#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""relay - a TCP relay that delays each piece by a random time, as a bad network does.

    tests/prove/relay.py --to PORT --jitter-ms 100 [--port PORT]

Its first line of output is its port. What arrives on one connection stays in order.
"""
import argparse
import asyncio
import random


async def pump(reader, writer, jitter_s):
    while data := await reader.read(16384):
        if jitter_s:
            await asyncio.sleep(random.uniform(0, jitter_s))
        writer.write(data)
        await writer.drain()
    writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--to', type=int, required=True)
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--jitter-ms', type=float, default=100)
    args = parser.parse_args()
    jitter_s = args.jitter_ms / 1000

    async def connection(reader, writer):
        try:
            inner_reader, inner_writer = await asyncio.open_connection('127.0.0.1', args.to)
            await asyncio.gather(pump(reader, inner_writer, jitter_s),
                                 pump(inner_reader, writer, jitter_s))
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, '127.0.0.1', args.port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
