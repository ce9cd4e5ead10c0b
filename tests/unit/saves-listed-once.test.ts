import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { GRACE_MS } from "../../daemon/files/state/grace.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SAVED = `${START}\nMore.\n`;

const lab = clonesOfEach();
let a: FollowedMachine;

/** Each version's state and what became of its save, the latest first. */
async function listed() {
  return (await a.history()).map(({ state, save }) => [state, save?.outcome]);
}

test("a save that waited for the service's first answer is listed once", async () => {
  const dir = await lab.git.repository("a", { "README.md": "x\n" });
  await lab.git.write(join(dir, FILE), SAVED);
  a = await lab.open("a", dir);
  await a.beAnswered(false);
  await a.follow();
  expect(a.status.state).toBe("waiting");
  expect(await listed()).toEqual([["saved", "waiting"]]);
  await a.pass(GRACE_MS);
  await a.beAnswered(true);
  await a.settle();
  expect(await a.doc()).toBe(SAVED);
  expect(await listed()).toEqual([["current", "taken"]]);
});

test("a save that waited for git is listed once", async () => {
  ({ a } = await lab.pair({ [FILE]: START }));
  const lock = join(a.dir, ".git", "index.lock");
  await lab.git.write(lock, "");
  await a.save(SAVED);
  expect(a.status.why?.code).toBe("leave-busy");
  await a.pass(GRACE_MS);
  a.remove(join(".git", "index.lock"));
  await a.settle();
  expect(await a.doc()).toBe(SAVED);
  expect((await listed())[0]).toEqual(["current", "taken"]);
  expect((await a.history()).filter(({ value }) => value === SAVED)).toHaveLength(1);
});
