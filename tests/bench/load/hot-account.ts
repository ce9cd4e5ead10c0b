import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { notes } from "../notes.ts";
import { Connection, requestOf } from "./connection.ts";

// An account that does all that its plan allows, until it is ended: each of its connections writes
// all memories of a project anew, once a second at most. It says so after the first round.
const [url = "", token = "", connections = "1", memories = "1"] = process.argv.slice(2);
const EVERY_MS = 1000;
const ROUNDS_MAX = 600;
const BODIES = 4;

const bodies = Array.from({ length: BODIES }, (_, version) => {
  const changed = notes(Number(memories)).map(({ key, value }) => ({
    key,
    value: `${value} ${version}`,
  }));
  return JSON.stringify({ memories: changed });
});

async function write(connection: Connection, project: string, round: number): Promise<void> {
  const body = bodies[round % BODIES] ?? "";
  const request = requestOf({ url, token }, "POST", `/v1/projects/${project}/sync`, body);
  const { status } = await connection.ask(request);
  if (status !== 200) throw new Error(`a sync was answered ${status}`);
}

const opened = await Promise.all(
  Array.from({ length: Number(connections) }, () => Connection.open(url)),
);
await Promise.all(opened.map((connection, at) => write(connection, `proj_hot_${at}`, 0)));
process.stdout.write("hot\n");
await Promise.all(
  opened.map(async (connection, at) => {
    for (let round = 1; round < ROUNDS_MAX; round++) {
      const pace = delay(realWorld, EVERY_MS);
      await write(connection, `proj_hot_${at}`, round);
      await pace;
    }
  }),
);
