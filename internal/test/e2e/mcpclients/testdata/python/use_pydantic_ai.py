"""An agent of Pydantic AI with a scripted model."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport

from session import ANSWER, ARGS, COMMAND, COMMAND_CALL, MESSAGES, READ, SOON, Report


async def main():
    report = Report()

    async def ask(message, response_type, params, context):
        report["asked"].append(message)
        return ElicitResult(action="accept", content=ANSWER)

    def scripted(messages):
        left = iter(messages)

        def model(history, info):
            report["tools"] = [tool.name for tool in info.function_tools]
            results = [
                str(part.content)
                for part in history[-1].parts
                if isinstance(part, (ToolReturnPart, RetryPromptPart))
            ]
            if results:
                report["results"].append(results)
            uses = next(left, None)
            if uses is None:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart(name, args) for name, args in uses])

        return FunctionModel(model)

    toolset = MCPToolset(StdioTransport(COMMAND, ARGS), elicitation_handler=ask, tool_error_behavior="failed")
    agent = Agent(toolsets=[toolset])

    async def run(messages):
        await agent.run("go on", model=scripted(messages))

    async def read():
        await run([[READ]])
        return report["results"].pop()[0]

    async with agent:
        await run(MESSAGES)
        try:
            await asyncio.wait_for(run([[COMMAND_CALL]]), SOON)
        except TimeoutError:
            report["after"] = await read()
    async with agent:
        report["again"] = await read()
    report.print()


asyncio.run(main())
