"""Makes the calls of a suite's tasks through toolquay, and prints what came of them.

    drive.py SUITE DIRECTORY

DIRECTORY is the one of serve.py. A session has rules that allow the tools which user tasks need,
and no others: first one session with those of all user tasks of the suite, then one for each user
task with its own. In every session its user tasks are done, and then the injection tasks are
tried. A task needs the tools that its ground truth calls.
"""

import asyncio
import json
import os
import pickle
import re
import sys

from mcp import Client, StdioServerParameters

from suites import Suite

COMMAND = os.environ["TOOLQUAY"]
ARGS = json.loads(os.environ["TOOLQUAY_ARGS"])


class Driver:
    def __init__(self, name, directory):
        self.name, self.directory = name, directory
        self.suite = Suite(name)
        self.users = self.suite.suite.user_tasks
        self.runs = 0

    def calls(self, task, begin):
        return task.ground_truth(self.suite.environment(begin))

    def needs(self, ids):
        return sorted({call.function for id in ids for call in self.calls(self.users[id], id)})

    async def session(self, ids):
        """Does user tasks, and tries the injection tasks, under the rules that the first need."""
        rules = [f"--allow=mcp__{self.name}__{tool}" for tool in self.needs(ids)]
        server = StdioServerParameters(command=COMMAND, args=ARGS + rules, env=dict(os.environ))
        async with Client(server, cache=None) as self.client:
            await self.offered()
            return {
                "user": [await self.do(self.users[id], id) for id in ids],
                "injected": [await self.do(task, ids[0]) for task in self.suite.suite.injection_tasks.values()],
            }

    async def offered(self):
        """Waits until all tools of the suite are offered: Toolquay answers before their server does."""
        want = {f"mcp__{self.name}__{tool.name}" for tool in self.suite.tools}
        while not want <= {tool.name for tool in (await self.client.list_tools()).tools}:
            await asyncio.sleep(0.05)

    async def do(self, task, begin):
        """Makes the calls of a task, where that of a user with the id begin would begin."""
        self.runs += 1
        with open(os.path.join(self.directory, "begin"), "w") as file:
            file.write(f"{self.runs} {begin}")
        # The same without rules, and without a server.
        twin = self.suite.environment(begin)
        calls, done, stopped, wrong = self.calls(task, begin), [], [], []
        for call in calls:
            name = f"mcp__{self.name}__{call.function}"
            want, error = self.suite.call(twin, call.function, call.args)
            want = want or f"({name} completed with no output)"
            answer = await self.client.call_tool(name, dict(call.args))
            text = "\n".join(block.text for block in answer.content)
            if len(self.state(begin)[0]) == len(done):
                stopped.append(f"{call.function}: {text}")
                continue
            done.append(call)
            if not stopped and (timeless(text), answer.is_error) != (timeless(want), error):
                wrong.append(f"{call.function} answers {text!r} instead of {want!r}")
        came, after = self.state(begin)
        if came != [call.function for call in done]:
            wrong.append(f"the server had the calls {came}")
        if calls and not self.fulfilled(task, begin, twin, calls):
            wrong.append("its calls do not do it")
        return {
            "task": task.ID,
            "done": self.fulfilled(task, begin, after, done),
            "calls": len(calls),
            "stopped": stopped,
            "wrong": wrong,
        }

    def fulfilled(self, task, begin, after, calls):
        """Whether the suite finds that calls have done a task."""
        return self.suite.fulfilled(task, self.suite.environment(begin), after, calls)

    def state(self, begin):
        """The calls that came to the server, and the environment as they left it."""
        path = os.path.join(self.directory, "state")
        if os.path.exists(path):
            with open(path, "rb") as file:
                run, calls, environment = pickle.load(file)
            if run == str(self.runs):
                return calls, environment
        return [], self.suite.environment(begin)


def timeless(text):
    """A text without the time at which something was made."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "now", text)


async def main():
    driver = Driver(*sys.argv[1:])
    sessions = [await driver.session(list(driver.users))]
    sessions += [await driver.session([id]) for id in driver.users]
    json.dump(sessions, sys.stdout)


asyncio.run(main())
