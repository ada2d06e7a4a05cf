"""LangChain's MCP adapters, with a scripted chat model. They do not tell a server that they cancel a
call."""

import asyncio
import itertools

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from mcp.types import ElicitResult

from session import ANSWER, ARGS, COMMAND, MESSAGES, READ, SLEEP, SOON, Report

ids = itertools.count()


def scripted(messages):
    for uses in messages:
        calls = [{"name": name, "args": args, "id": f"c{next(ids)}"} for name, args in uses]
        yield AIMessage("", tool_calls=calls)
    yield AIMessage("done")


def text_of(message):
    if isinstance(message.content, str):
        return message.content
    return "\n".join(block["text"] for block in message.content)


async def main():
    report = Report()

    async def ask(context, params, where):
        report["asked"].append(params.message)
        return ElicitResult(action="accept", content=ANSWER)

    async def run(tools, messages):
        model = GenericFakeChatModel(messages=scripted(messages))

        async def answer(state):
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", answer)
        graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        results = []
        async for state in graph.compile().astream({"messages": [HumanMessage("go on")]}, stream_mode="updates"):
            if "tools" in state:
                results.append([text_of(message) for message in state["tools"]["messages"]])
        return results

    client = MultiServerMCPClient(
        {"toolquay": {"transport": "stdio", "command": COMMAND, "args": ARGS}},
        callbacks=Callbacks(on_elicitation=ask),
    )
    async with client.session("toolquay") as session:
        tools = await load_mcp_tools(session, callbacks=client.callbacks, server_name="toolquay")
        report["tools"] = [tool.name for tool in tools]
        report["results"] = await run(tools, MESSAGES)
        try:
            await asyncio.wait_for(run(tools, [[SLEEP]]), SOON)
        except TimeoutError:
            report["after"] = (await run(tools, [[READ]]))[0][0]
    # Without a session of its own each call has a server of its own.
    report["again"] = (await run(await client.get_tools(), [[READ]]))[0][0]
    report.print()


asyncio.run(main())
