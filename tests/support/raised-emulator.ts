// An emulator as `memsync emulator` starts it, by some of its options, whose plan allows as many
// requests as anybody makes: they are counted, and held to limits, like those of any account.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createEmulatorApp } from "../../server/emulator/emulator-app.ts";
import { listen } from "../../server/listen/listen.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { watchTurns } from "./turn-watch.ts";

/** In a minute and in a day; more than anybody makes, and what is kept of them stays small. */
const RAISED = { minute: 1_000_000, day: 100_000_000 };

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    port: text,
    "data-dir": text,
    uncounted: { type: "boolean" },
    "published-only": { type: "boolean" },
    // A file that has the longest turns of the loop.
    turns: text,
  },
});
const dataDir = values["data-dir"];
if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
const { app, close } = await createEmulatorApp({
  path: dataDir === undefined ? ":memory:" : join(dataDir, "emulator.db"),
  plan: "pro",
  limits: values.uncounted ? "off" : "on",
  plans: { pro: RAISED, team: RAISED },
  world: realWorld,
  log: silentLog,
  loopbackOnly: true,
  publishedOnly: values["published-only"] ?? false,
  readiness: new Readiness("ready"),
});
const { url } = await listen(app, { host: "127.0.0.1", port: Number(values.port ?? 0) });
if (values.turns !== undefined) watchTurns(values.turns);
process.on("SIGTERM", () => void close().finally(() => process.exit(0)));
process.stdout.write(`memsync emulator ready at ${url}\n`);
