"""An agent of the OpenAI Agents SDK with a scripted model. It cannot be asked by a server,
nor does it tell one that it cancels a call."""

import asyncio
import itertools
import json

from agents import Agent, RunConfig, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from session import ARGS, COMMAND, MESSAGES, READ, SLEEP, SOON, Report

ids = itertools.count()


class Scripted(Model):
    def __init__(self, report, messages):
        self.report, self.left = report, iter(messages)

    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **more):
        self.report["tools"] = [tool.name for tool in tools]
        results = []
        for item in reversed(input if isinstance(input, list) else []):
            if item.get("type") != "function_call_output":
                break
            output = item["output"]
            results.insert(0, output if isinstance(output, str) else "\n".join(part["text"] for part in output))
        if results:
            self.report["results"].append(results)
        uses = next(self.left, None)
        if uses is None:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])]
        else:
            output = [
                ResponseFunctionToolCall(type="function_call", call_id=f"c{next(ids)}", name=name, arguments=json.dumps(args))
                for name, args in uses
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *rest, **more):
        raise NotImplementedError


async def main():
    set_tracing_disabled(True)
    report = Report()

    def connect():
        return MCPServerStdio({"command": COMMAND, "args": ARGS}, client_session_timeout_seconds=60)

    async def run(server, messages):
        agent = Agent("tester", mcp_servers=[server], model=Scripted(report, messages))
        await Runner.run(agent, "go on", run_config=RunConfig(tracing_disabled=True))

    async def read(server):
        await run(server, [[READ]])
        return report["results"].pop()[0]

    async with connect() as server:
        await run(server, MESSAGES)
        try:
            await asyncio.wait_for(run(server, [[SLEEP]]), SOON)
        except TimeoutError:
            report["after"] = await read(server)
    async with connect() as server:
        report["again"] = await read(server)
    report.print()


asyncio.run(main())
