import asyncio
import json
import sys

from simple_agent import SimpleAgent


async def main():
    reader = asyncio.StreamReader(limit=1 << 20)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    agent = SimpleAgent()
    while line := await reader.readline():
        agent.handle(json.loads(line))


asyncio.run(main())
