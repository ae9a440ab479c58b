import asyncio
import json
import sys

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    async def main(self):
        reader = asyncio.StreamReader(limit=1 << 20)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            message = json.loads(line)
            if message["type"] == "turn":
                await asyncio.Event().wait()
            self.handle(message)


asyncio.run(Agent().main())
