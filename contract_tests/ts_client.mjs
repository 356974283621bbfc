// Calls tools of a stdio server with the official TypeScript client and reports what it thought of
// each answer. Usage: node ts_client.mjs COMMAND DIRECTORY < calls.json > report.json
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, directory] = process.argv.slice(2);
const calls = JSON.parse(await text(process.stdin));

const client = new Client({ name: "contract-tests", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({
    command,
    args: ["--dir", directory, "--quiet", "mcp", "serve"],
    env: process.env,
    stderr: "inherit",
  }),
);

// Listing first makes the client compile every output schema and check each answer against it.
const { tools } = await client.listTools();

async function ask(call) {
  try {
    const result = await client.callTool(call);
    return {
      isError: result.isError === true,
      hasStructured: "structuredContent" in result,
      items: result.content.map((item) => item.type),
    };
  } catch (error) {
    return { thrown: String(error) };
  }
}

const answers = [];
for (const call of calls) answers.push(await ask(call));

const report = { server: client.getServerVersion(), tools: tools.map((tool) => tool.name), answers };
await client.close();
process.stdout.write(JSON.stringify(report));
