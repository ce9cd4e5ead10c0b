// An emulator as `memsync emulator` starts it, whose plan allows as many requests as a row makes:
// they are counted, and held to limits, like those of any account.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createEmulatorApp } from "../../../server/emulator/emulator-app.ts";
import { listen } from "../../../server/listen.ts";
import { Readiness } from "../../../server/operations/readiness.ts";
import { silentLog } from "../../../shared/log.ts";
import { realWorld } from "../../../shared/world-real.ts";

/** In a minute and in a day; more than any row makes, and what is kept of them stays small. */
const RAISED = { minute: 1_000_000, day: 100_000_000 };

const [dataDir = "", limits = "on"] = process.argv.slice(2);
mkdirSync(dataDir, { recursive: true });
const { app } = await createEmulatorApp({
  path: join(dataDir, "emulator.db"),
  plan: "pro",
  limits: limits === "off" ? "off" : "on",
  plans: { pro: RAISED, team: RAISED },
  world: realWorld,
  log: silentLog,
  loopbackOnly: true,
  readiness: new Readiness("ready"),
});
const { url } = await listen(app, { host: "127.0.0.1", port: 0 });
process.on("SIGTERM", () => process.exit(0));
process.stdout.write(`ready at ${url}\n`);
