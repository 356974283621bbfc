// Lists, adds and searches over HTTP with an official TypeScript client, and reports what came.
//
//   node http_client.mjs v1|v2|v2-auto URL TOKEN FOLDER
//
// FOLDER holds node_modules with both clients. Each client checks structured answers by itself.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [lib, url, token, folder] = process.argv.slice(2);
const require = createRequire(`${folder}/x.js`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

const v2 = "@modelcontextprotocol/client";
const v1 = "@modelcontextprotocol/sdk/client";
const { Client } = await load(lib === "v1" ? `${v1}/index.js` : v2);
const { StreamableHTTPClientTransport } = await load(lib === "v1" ? `${v1}/streamableHttp.js` : v2);

const options = lib === "v2-auto" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "contract-tests", version: "1" }, options);
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const { tools } = await client.listTools();
const agent_id = `ts-${lib}`;
await client.callTool({ name: "memory_add", arguments: { agent_id, text: "Ports: 8137" } });
const found = await client.callTool({ name: "memory_search", arguments: { agent_id, query: "8137" } });
const refused = await client.callTool({ name: "memory_search", arguments: { agent_id, query: "" } });
const server = client.getServerVersion()?.name;
await client.close();
const report = {
  server,
  tools: tools.map((tool) => tool.name),
  facts: found.structuredContent?.facts,
  refused: refused.isError === true,
};
process.stdout.write(JSON.stringify(report));
