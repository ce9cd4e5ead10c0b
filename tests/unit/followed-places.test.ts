import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDrivenWorld } from "../support/driven-world.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

/** A machine with the text, and another one that is to write it into an empty folder of its own. */
async function withFolder(world = createDrivenWorld("c")) {
  const { a, b } = await lab.pair({ "README.md": "x\n" });
  await a.save(START);
  await exchange([a, b]);
  const dir = lab.git.path("c");
  mkdirSync(dir);
  const c = await FollowedMachine.open("c", dir, lab.git.path("home-c"), lab.git.git, world);
  return { a, c, dir };
}

test("a folder whose repository is gone before it was looked at gets no file", async () => {
  const { a, c, dir } = await withFolder();
  await c.placeFromGit();
  await c.receive(a);
  await c.follow({ write: true });
  await c.settleAfterGrace();
  expect([c.status.state, c.status.why?.code]).toEqual(["left-alone", "leave-lost"]);
  expect(existsSync(join(dir, FILE))).toBe(false);
  await c.stop();
});

test("a folder without git that is another one when its file is ready gets none", async () => {
  const world = createDrivenWorld("c");
  const { a, c, dir } = await withFolder(world);
  await c.receive(a);
  const { randomBytes } = world;
  let isExchanged = false;
  world.randomBytes = (length) => {
    // The name of the new file is being made up.
    if (!isExchanged && existsSync(dir)) {
      isExchanged = true;
      renameSync(dir, `${dir}-before`);
      mkdirSync(dir);
      writeFileSync(join(dir, "of-another.txt"), "");
    }
    return randomBytes(length);
  };
  await c.follow({ write: true });
  expect(isExchanged).toBe(true);
  expect(existsSync(join(dir, FILE))).toBe(false);
  await c.stop();
});
