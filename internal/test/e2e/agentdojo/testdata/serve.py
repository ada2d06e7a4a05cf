"""Serves the tools of a suite of AgentDojo over standard input and output.

    serve.py SUITE DIRECTORY

What the tools work on is this program's own. Two files are not for the model, but for the
driver: DIRECTORY/begin has a number and the name of a user task, and with a new number the
environment of that task begins; DIRECTORY/state has the number, the calls that came since, and
the environment as they left it.
"""

import asyncio
import os
import pickle
import sys

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from suites import Suite


class Served:
    def __init__(self, name, directory):
        self.suite = Suite(name)
        self.directory = directory
        self.run = None

    def begin(self):
        """Begins a new environment, if the driver says so."""
        with open(os.path.join(self.directory, "begin")) as file:
            run, task = file.read().split()
        if run != self.run:
            self.run, self.calls, self.environment = run, [], self.suite.environment(task)

    def keep(self):
        path = os.path.join(self.directory, "state")
        with open(path + ".new", "wb") as file:
            pickle.dump((self.run, self.calls, self.environment), file)
        os.replace(path + ".new", path)

    async def list(self, context, params):
        return types.ListToolsResult(tools=[
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters.model_json_schema())
            for tool in self.suite.tools
        ])

    async def call(self, context, params):
        self.begin()
        self.calls.append(params.name)
        text, error = self.suite.call(self.environment, params.name, params.arguments or {})
        self.keep()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)


async def main():
    served = Served(*sys.argv[1:])
    server = Server("agentdojo-" + sys.argv[1], on_list_tools=served.list, on_call_tool=served.call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
