// An agent that reaches a shared memory over HTTP, with the official TypeScript client.
//
//   npm ci && npm run build
//   GRAYMATTER_URL=https://memory.example.org/mcp GRAYMATTER_TOKEN=gm_... node dist/remote.js
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

const { GRAYMATTER_URL: url, GRAYMATTER_TOKEN: token } = process.env;
if (url === undefined || token === undefined) {
  console.error("set GRAYMATTER_URL and GRAYMATTER_TOKEN");
  process.exit(1);
}

const client = new Client({ name: "graymatter-remote-example", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
// The SDK's own types disagree under exactOptionalPropertyTypes: there is no session until there is.
await client.connect(transport as Transport);
// From here on the client knows each tool's output schema and checks every answer against it.
await client.listTools();

const agent_id = "webshop";
const added = await client.callTool({
  name: "memory_add",
  arguments: { agent_id, text: "Deploys need two approvals." },
});
console.log("memory_add", JSON.stringify(added.structuredContent ?? added.content));
const found = await client.callTool({
  name: "memory_search",
  arguments: { agent_id, query: "approvals", top_k: 3 },
});
console.log("memory_search", JSON.stringify(found.structuredContent ?? found.content));
await client.close();
