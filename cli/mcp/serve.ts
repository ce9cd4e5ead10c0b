import { fromJsonSchema, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { VERSION } from "../../shared/version.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { CommandEnded } from "../screen/errors.ts";
import { complain } from "../screen/output.ts";
import { forget } from "./forget.ts";
import { memoryStatus } from "./memory-status.ts";
import { findScope } from "./project-scope.ts";
import { readMemory } from "./read-memory.ts";
import { recall } from "./recall.ts";
import { remember } from "./remember.ts";
import {
  MEMORY_URI,
  memoryResources,
  PROJECT_URI,
  projectResources,
  readMemoryResource,
  readProjectResource,
} from "./resources.ts";
import { INSTRUCTIONS, TOOLS, type ToolName } from "./tool-list.ts";
import { answered, refused, type ToolResult } from "./tool-result.ts";

type Handler = (
  env: Environment,
  option: string | undefined,
  // The arguments were checked against the tool's schema.
  request: never,
) => Promise<ToolResult>;

const HANDLERS: Readonly<Record<ToolName, Handler>> = {
  recall,
  remember,
  read_memory: readMemory,
  forget,
  memory_status: memoryStatus,
};

const WRAP_UP =
  "Look back at this session. Save with `remember` what the next one should know: decisions " +
  "with their reasons, conventions, pitfalls, preferences of the user. Call `recall` first, and " +
  "update a key that is there instead of adding a similar one. Leave out what the code or git " +
  "says, what was only tried, and every secret. Say in one line what you saved.";

/**
 * Serves the memories over standard input and output, in both eras of the protocol. Resolves when
 * the client has gone and everything that it asked for is done. No state is kept between two calls:
 * a daemon may come and go meanwhile, and clients start a second process to probe.
 */
export async function serveMemories(env: Environment, option: string | undefined): Promise<void> {
  const queue = new CallQueue();
  const gone = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) process.stdin.once(event, () => resolve());
    process.stdout.once("error", () => resolve());
  });
  const transport = new StdioServerTransport();
  const served = serveStdio(() => createServer(env, { option, queue }), { transport });
  if (option !== undefined) {
    await queue.run(async () => {
      const why = await whyUnknown(env, option);
      if (why !== undefined) complain(why);
    });
  }
  await gone;
  await queue.idle();
  const isUnknown = option !== undefined && (await whyUnknown(env, option)) !== undefined;
  await served.close();
  // Said at the start; a script that tries the line before it is set up looks at the status.
  if (isUnknown) throw new CommandEnded(1);
}

/**
 * Why `--project` names no project, for standard error, which assistants log. Calls are answered
 * all the same: it may be linked later, and the personal layers are there without it.
 */
async function whyUnknown(env: Environment, option: string): Promise<string | undefined> {
  try {
    await withLocal(env, (db) => findScope(env, db, { option }));
    return undefined;
  } catch (thrown) {
    const { content } = await refused(thrown, env.home.dir);
    return content.map(({ text }) => text).join("\n");
  }
}

/**
 * Runs one call after another. Each opens the home's database, and a writer in SQLite that waits
 * for another one blocks the thread that the other one needs.
 */
class CallQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async idle(): Promise<void> {
    await this.#last;
  }
}

interface ServerOptions {
  readonly option: string | undefined;
  readonly queue: CallQueue;
}

function createServer(env: Environment, options: ServerOptions): McpServer {
  const info = { name: "memsync", title: "memsync", version: VERSION };
  const server = new McpServer(info, { instructions: INSTRUCTIONS });
  // `TOOLS` is written out, and has no tool without its name in the type.
  for (const name of Object.keys(TOOLS) as ToolName[]) addTool(server, env, { name, ...options });
  addResources(server, env, options);
  server.registerPrompt(
    "memsync_wrapup",
    { title: "Save what was learned", description: "Has the assistant save what was learned." },
    () => ({ messages: [{ role: "user", content: { type: "text", text: WRAP_UP } }] }),
  );
  return server;
}

function addTool(
  server: McpServer,
  env: Environment,
  { name, option, queue }: ServerOptions & { readonly name: ToolName },
): void {
  const { inputSchema, ...face } = TOOLS[name];
  const schema = fromJsonSchema<never>(structuredClone(inputSchema));
  server.registerTool(name, { ...face, inputSchema: schema }, async (request: never) => {
    try {
      return answered(await queue.run(() => HANDLERS[name](env, option, request)));
    } catch (thrown) {
      return await refused(thrown, env.home.dir);
    }
  });
}

function addResources(server: McpServer, env: Environment, { option, queue }: ServerOptions): void {
  const list = (find: typeof projectResources) => async () => ({
    resources: await queue.run(() => find(env, option)),
  });
  server.registerResource(
    "project-memories",
    new ResourceTemplate(PROJECT_URI, { list: list(projectResources) }),
    { title: "A project's memories" },
    async (uri, { id }) => ({
      contents: [
        { uri: uri.href, text: await queue.run(() => readProjectResource(env, option, `${id}`)) },
      ],
    }),
  );
  server.registerResource(
    "memory",
    new ResourceTemplate(MEMORY_URI, { list: list(memoryResources) }),
    { title: "A memory" },
    async (uri, { layer, key }) => ({
      contents: [
        {
          uri: uri.href,
          text: await queue.run(() =>
            readMemoryResource(env, option, { layer: `${layer}`, key: `${key}` }),
          ),
        },
      ],
    }),
  );
}
