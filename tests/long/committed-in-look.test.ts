import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { QUIET_MS } from "../../daemon/git/read-tracked-text.ts";
import type { Git } from "../../daemon/git/run-git.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { clonesOfEach, FILE, LONG_MS, START } from "../support/followed-clones.ts";
import { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const clones = clonesOfEach();

/** A clone, and what somebody does there once when a look asks git for all its logs. */
async function openClone() {
  const { git } = clones;
  await git.repository("others", { [FILE]: START });
  await git.run(git.folder, "clone", "-q", "others", "c");
  let meanwhile: (() => Promise<void>) | undefined;
  const asked: Git = async (folder, args) => {
    const act = args.includes("-g") && args.includes("--all") ? meanwhile : undefined;
    if (act) meanwhile = undefined;
    await act?.();
    return await git.git(folder, args);
  };
  const [dir, world] = [git.path("c"), createDrivenWorld("c")];
  const c = await FollowedMachine.open("c", dir, git.path("home-c"), asked, world);
  return { c, others: git.path("others"), during: (act: () => Promise<void>) => (meanwhile = act) };
}

test("what is committed while a look asks git is in the document, and so is what is saved over it", async () => {
  const { git } = clones;
  const { c, others, during } = await openClone();
  await c.follow();
  await c.pass(LONG_MS);
  const theirs = `theirs\n${START}`;
  await git.write(join(others, FILE), theirs);
  await clones.git.run(others, "commit", "-qam", "theirs");
  await clones.run(c, "pull", "-q");
  const own = `${theirs}own\n`;
  let isCommitted = false;
  during(async () => {
    isCommitted = true;
    await clones.commit(c, own);
    c.put(`${own}later\n`);
  });
  for (let looks = 0; looks < 4 && !isCommitted; looks++) {
    await c.look();
    if (!isCommitted) await c.pass(QUIET_MS);
  }
  expect(isCommitted).toBeTrue();
  // Nothing of it is taken yet, and nobody says that it is.
  expect([await c.doc(), c.status.state]).toEqual([START, "waiting"]);
  await c.settle();
  await c.pass(LONG_MS);
  await c.settle();
  expect(await c.doc()).toBe(`${own}later\n`);
  await c.stop();
});
