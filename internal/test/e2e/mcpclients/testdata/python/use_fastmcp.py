"""FastMCP's client, which keeps the server alive between its connections."""

import asyncio

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport

from session import ANSWER, ARGS, COMMAND, COMMAND_CALL, MESSAGES, READ, SOON, Report


async def main():
    report = Report()

    async def ask(message, response_type, params, context):
        report["asked"].append(message)
        return ElicitResult(action="accept", content=ANSWER)

    async def call(use):
        result = await client.call_tool(*use, raise_on_error=False)
        return "\n".join(block.text for block in result.content)

    client = Client(StdioTransport(COMMAND, ARGS), elicitation_handler=ask)
    async with client:
        report["tools"] = [tool.name for tool in await client.list_tools()]
        for message in MESSAGES:
            report["results"].append(await asyncio.gather(*map(call, message)))
        try:
            await asyncio.wait_for(call(COMMAND_CALL), SOON)
        except TimeoutError:
            report["after"] = await call(READ)
    async with client:
        report["again"] = await call(READ)
    await client.close()
    report.print()


asyncio.run(main())
