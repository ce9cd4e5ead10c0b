// Fills an emulator's database with accounts that have projects with a memory each; says how many.
import { createEmulatorApp } from "../../../server/emulator/emulator-app.ts";
import { silentLog } from "../../../shared/log.ts";
import { realWorld } from "../../../shared/world-real.ts";

const [path = "", accounts = "1", projects = "1"] = process.argv.slice(2);
const AT_ONCE = 50;

const { app, close } = await createEmulatorApp({
  path,
  plan: "pro",
  limits: "off",
  loopbackOnly: false,
  world: realWorld,
  log: silentLog,
});

async function fill(account: number): Promise<void> {
  for (let project = 0; project < Number(projects); project++) {
    const url = `http://localhost/v1/projects/proj_crowd_${project}/sync`;
    const body = JSON.stringify({ memories: [{ key: "note", value: `of account ${account}` }] });
    const headers = { Authorization: `Bearer mst_dev_crowd${account}` };
    const { status } = await app.fetch(new Request(url, { method: "POST", headers, body }));
    if (status !== 200) throw new Error(`the service answered ${status}`);
  }
}

for (let first = 0; first < Number(accounts); first += AT_ONCE) {
  const count = Math.min(AT_ONCE, Number(accounts) - first);
  await Promise.all(Array.from({ length: count }, (_, i) => fill(first + i)));
}
await close();
process.stdout.write(`${JSON.stringify({ accounts: Number(accounts) })}\n`);
