"""The suites of AgentDojo, without the clients of models that its package loads beside them."""

import importlib.util
import sys
import types

import yaml


def _bare(name, path=None, **content):
    """Puts a module in the place of one whose imports are large: no task uses a model."""
    module = types.ModuleType(name)
    if path:
        module.__path__ = [path]
    vars(module).update(content)
    sys.modules[name] = module


# The environments are YAML, which takes a second without C.
yaml.SafeLoader = yaml.CSafeLoader

_root = importlib.util.find_spec("agentdojo").submodule_search_locations[0]
_bare("agentdojo.agent_pipeline", _root + "/agent_pipeline")
_bare("agentdojo.agent_pipeline.llms", _root + "/agent_pipeline/llms")
_bare("agentdojo.agent_pipeline.llms.google_llm", EMPTY_FUNCTION_NAME="")

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite

VERSION = "v1.2.2"


class Suite:
    """A suite, whose tools work on an environment that begins anew for each task."""

    def __init__(self, name):
        self.suite = get_suite(VERSION, name)
        self.tools = self.suite.tools
        self._runtime = FunctionsRuntime(self.tools)
        self._default = self.suite.load_and_inject_default_environment({})

    def environment(self, task):
        """The environment in which a user task begins."""
        return self.suite.user_tasks[task].init_environment(self._default.model_copy(deep=True))

    def call(self, environment, tool, arguments):
        """What a tool answers, as a text, and whether that is an error."""
        result, error = self._runtime.run_function(environment, tool, arguments)
        return (error, True) if error else (tool_result_to_str(result), False)

    def fulfilled(self, task, before, after, calls):
        """Whether the suite says that a task, of a user or injected, has been done."""
        output = [{"type": "text", "content": task.GROUND_TRUTH_OUTPUT}]
        return self.suite._check_task_result(task, output, before, after, calls)
