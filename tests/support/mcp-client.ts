import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Machine, MEMSYNC } from "./machine.ts";
import { PATIENCE } from "./wait-for.ts";

/** What a tool answered. */
export interface Answer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface AssistantOptions {
  readonly cwd?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly era?: "legacy" | "auto";
}

const DEADLINE_MS = 60_000 * PATIENCE;

/** The official client, on a `memsync mcp` of its own. */
export class Assistant {
  readonly client: Client;
  readonly transport: StdioClientTransport;

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.transport = transport;
  }

  static async start(
    machine: Machine,
    { cwd = machine.folder, args = [], env = {}, era = "legacy" }: AssistantOptions = {},
  ): Promise<Assistant> {
    const [command = "", ...rest] = MEMSYNC;
    const transport = new StdioClientTransport({
      command,
      args: [...rest, "mcp", ...args],
      cwd,
      env: { ...machine.environment(), ...env },
      stderr: "ignore",
    });
    const options: ClientOptions = { versionNegotiation: { mode: era } };
    const client = new Client({ name: "test", version: "1" }, options);
    await client.connect(transport, { timeout: DEADLINE_MS });
    return new Assistant(client, transport);
  }

  async call(name: string, request: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const asked = { name, arguments: { ...request } };
    const { content, structuredContent, isError } = await this.client.callTool(asked, {
      timeout: DEADLINE_MS,
    });
    const [first] = content as readonly { readonly text?: string }[];
    const data = (structuredContent ?? {}) as Answer["data"];
    return { text: first?.text ?? "", data, isError: isError === true };
  }

  async end(): Promise<void> {
    await this.client.close();
  }
}
