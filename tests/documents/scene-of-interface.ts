import { Doc, encodeStateAsUpdate } from "yjs";
import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";

/** Asks the emulator beside the document's own commands. */
async function ask({ shell }: Reader, path: string, body: unknown): Promise<void> {
  const { status, printed } = await shell.run(
    `curl -sf -H "$A" $U${path} -d '${JSON.stringify(body)}'`,
  );
  if (status !== 0) throw new Error(`${path} was refused: ${printed}`);
}

/** The Yjs client of which the document's update speaks. */
const CLIENT = 324_428_327;

/** The project of the worked example as it is before: its one memory is that client's. */
async function relay(reader: Reader): Promise<void> {
  const document = new Doc();
  document.clientID = CLIENT;
  const times = { created_at: 1_795_230_222_813, updated_at: 1_795_230_222_813 };
  const entry = { key: "db", value: "SQLite", ...times };
  document.getArray(`memories/${CLIENT}`).push([entry]);
  const update = Buffer.from(encodeStateAsUpdate(document)).toString("base64");
  const documents = { project: { update } };
  await ask(reader, "/v1/projects/proj_relay/sync", { crdt: { encoding: "yjs-v1", documents } });
}

/** The tag of what is there now takes the place of the document's. */
async function tag(reader: Reader): Promise<void> {
  const { printed } = await reader.shell.run('curl -si -H "$A" $U/v1/projects/proj_widget');
  reader.callsIt('"2z52aulxp51x4"', /^ETag: (\S+)/m.exec(printed)?.[1] ?? "");
}

export const INTERFACE: Scene = {
  document: "docs/interface.md",
  async stage(reader) {
    reader.callsIt("--port 4777", "--port 0");
  },
  first: [
    "memsync emulator",
    "U=http",
    '"name":"Widget","metadata":{"language"',
    '{"name":"Widget","metadata":{"framework"',
    '"content":"npm run build"',
    "If-None-Match",
    `curl -s -H "$A" $U/v1/memories -d '{"content":"Prefers tabs"`,
    "?limit=1",
    "?q=build",
    "$U/v1/memories/mem_",
    `curl -s -H "$A" $U/v1/projects/proj_widget`,
    '"value": "SQLite"',
    '"value": "PostgreSQL"',
    '"ci": null',
    '"sess_7f3a"',
    "sessions/sess_7f3a",
    "/connect",
    `curl -s -H "$A" $U/api/projects/proj_widget`,
    "connect?project_id",
    "proj_old",
    "stats",
  ],
  acts: [
    {
      command: "memsync emulator",
      until: /ready at \S+\n/,
      after: (reader, printed) =>
        reader.callsIt("http://127.0.0.1:4777", /ready at (\S+)/.exec(printed)?.[1] ?? ""),
    },
    { command: `curl -si -H "$A" -H 'If-None-Match`, before: tag },
    {
      command: 'curl -s -X DELETE -H "$A" $U/api/projects/proj_old',
      before: (reader) => ask(reader, "/api/projects", { id: "proj_old" }),
    },
    {
      command: `curl -s -H "$A" $U/api/sync`,
      before: (reader) => ask(reader, "/api/projects", { id: "proj_new", name: "New" }),
    },
    { command: `curl -s -H "$A" $U/api/projects/proj_relay/sync \\`, before: relay },
    {
      command: "UPDATE=",
      before: (reader) =>
        ask(reader, "/v1/projects/proj_relay/sync", {
          memories: [{ key: "ci", value: "on push" }],
        }),
    },
    {
      command: "memsync conformance",
      // Of more requests than the plan of the document's account lets through in a minute.
      async before({ lab, shell }) {
        await shell.run(`U=${(await lab.emulator()).url}`);
      },
    },
  ],
};
