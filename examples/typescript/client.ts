// Stores, searches, saves and resumes through graymatter, with the official TypeScript client.
//
//   npm ci && npm run build && npm start -- DATA_DIR [COMMAND]
//
// COMMAND starts graymatter; it must be on PATH or be named here. The client throws when a structured
// answer does not fit the schema that the server gave for the tool.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

const [dataDir, command = "graymatter"] = process.argv.slice(2);
if (dataDir === undefined) {
  console.error("usage: npm start -- DATA_DIR [COMMAND]");
  process.exit(1);
}

const agent_id = "webshop";
const transport = new StdioClientTransport({
  command,
  args: ["--dir", dataDir, "--quiet", "mcp", "serve"],
});
const client = new Client({ name: "graymatter-example", version: "1.0.0" });
await client.connect(transport);

async function call(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  console.log(name, JSON.stringify(result.structuredContent ?? result.content));
  return result;
}

// An error is text for the model to read, never an exception and never a structured value.
const missing = await call("checkpoint_resume", { agent_id });
if (missing.isError !== true) {
  throw new Error(`${dataDir} is not empty: a checkpoint exists`);
}

// From here on the client knows each tool's output schema and checks every answer against it.
await client.listTools();
await call("memory_add", { agent_id, text: "Deploys need two approvals." });
await call("memory_add", { agent_id, text: "The staging port is 8137.", confidence: "verified" });
await call("memory_alias", { agent_id, term: "ship", equivalents: ["deploy"] });
await call("memory_search", { agent_id, query: "8137", top_k: 1 });
await call("memory_search", { agent_id, query: "8137", top_k: 1, explain: true });
await call("memory_search_batch", { agent_id, queries: ["staging port", "who approves?"], top_k: 1 });
await call("memory_reflect", {
  action: "update",
  agent_id,
  target: "The staging port is 8137.",
  text: "The staging port is 8200.",
});
await call("checkpoint_save", { agent_id, state: JSON.stringify({ next: "ask for review" }) });
const resumed = await call("checkpoint_resume", { agent_id });
await client.close();
if (resumed.isError === true) {
  throw new Error("the checkpoint just saved was not found");
}
