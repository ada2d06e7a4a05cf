// The AI SDK with its MCP client and a scripted model.

import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const command = process.env.TOOLQUAY;
const args = JSON.parse(process.env.TOOLQUAY_ARGS);
const read = ["Read", { file_path: "a.txt" }];
const messages = [
  [read],
  [read, ["Read", { file_path: "b.txt" }], ["Grep", { pattern: "tide", output_mode: "content" }]],
  [["Write", { file_path: "secret.txt", content: "x\n" }]],
  [["Write", { file_path: "new.txt", content: "written\n" }]],
];
// It does not tell the server that it cancels a call.
const sleep = ["Sleep", { duration_ms: 600_000 }];
const soon = 1500;

const report = { tools: [], asked: [], results: [], again: "", after: "" };
let ids = 0;

async function connect() {
  const client = await createMCPClient({
    transport: new StdioMCPTransport({ command, args }),
    capabilities: { elicitation: {} },
  });
  client.onElicitationRequest(ElicitationRequestSchema, (request) => {
    report.asked.push(request.params.message);
    return { action: "accept", content: { answer: "allow" } };
  });
  return client;
}

// text is what the model is given of a result.
function text(output) {
  if (output.type === "content") return output.value.map((part) => part.text ?? "").join("\n");
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}

async function run(client, script, abortSignal) {
  const left = [...script];
  const tools = await client.tools();
  report.tools = Object.keys(tools);
  const results = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last.role === "tool") results.push(last.content.map((part) => text(part.output)));
      const uses = left.shift();
      const calls = (uses ?? []).map(([toolName, input]) => (
        { type: "tool-call", toolCallId: `c${ids++}`, toolName, input: JSON.stringify(input) }
      ));
      return {
        content: uses ? calls : [{ type: "text", text: "done" }],
        finishReason: { unified: uses ? "tool-calls" : "stop", raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      };
    },
  });
  await generateText({ model, tools, prompt: "go on", stopWhen: stepCountIs(20), abortSignal });
  return results;
}

let client = await connect();
report.results = await run(client, messages);
try {
  await run(client, [[sleep]], AbortSignal.timeout(soon));
} catch (error) {
  report.after = (await run(client, [[read]]))[0][0];
}
await client.close();
client = await connect();
report.again = (await run(client, [[read]]))[0][0];
await client.close();
process.stdout.write(JSON.stringify(report));
