import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createGit } from "../../daemon/git/run-git.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import { FollowedMachine } from "../support/followed-machines.ts";
import { oldGit } from "../support/old-git.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

test("what a git can't be asked that is too old is told, and nothing is read in its place", async () => {
  const dir = await lab.git.repository("b", { [FILE]: START });
  const git = createGit({ program: join(oldGit(lab.git), "git"), env: lab.git.env });
  const b = await FollowedMachine.open("b", dir, lab.git.path("home"), git, createDrivenWorld("b"));
  await b.follow();
  expect(b.status.why).toBeUndefined();
  await lab.commit(b, MORE);
  await b.settle();
  expect(b.status).toMatchObject({
    state: "failing",
    why: { code: "look-failed", said: expect.stringContaining("git is older than 2.31") },
  });
  expect([await b.doc(), b.file()]).toEqual([START, MORE]);
  await b.stop();
});
