import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FILE, FollowedClones } from "../support/followed-clones.ts";
import { FollowedFolders } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(120_000);

const BASE = [
  "# Widget\n\n## Build\n\n- install\n- lint\n- pack\n\n",
  "## Test\n\n- start\n- stop\n\n## Ship\n\n- tag\n- push\n",
].join("");
const saying = (from: string, to: string) => BASE.replace(`- ${from}\n`, to);
const TESTS = saying("lint", "- run tests\n");
const CHECKS = saying("lint", "- run checks\n");
const WITHOUT = saying("lint", "");
const OTHER = saying("tag", "- tag it\n");
const ADDED = saying("pack", "- pack\n- one\n- two\n");

type Two = readonly [FollowedMachine, FollowedMachine];

let ending: (() => Promise<void>) | undefined;

afterEach(async () => await ending?.());

function inFolders(make: (lab: FollowedFolders) => Promise<Two>): () => Promise<Two> {
  return async () => {
    const lab = new FollowedFolders();
    ending = () => lab.end();
    return await make(lab);
  };
}

function apart(one: string, other: string): () => Promise<Two> {
  return inFolders((lab) => lab.savedApart(BASE, [one, other]));
}

function stale(one: string, other: string): () => Promise<Two> {
  return inFolders((lab) => lab.savedStale(BASE, [one, other]));
}

/** One machine's file is gone, the other saves, and the first has its file back with an edit. */
function renewed(meanwhile: string): () => Promise<Two> {
  return inFolders(async (lab) => {
    const [a, b] = await lab.pair(BASE);
    a.remove();
    await a.settleAfterGrace();
    await b.save(meanwhile);
    await exchange([a, b]);
    await a.save(OTHER);
    return [a, b];
  });
}

function inGit(make: (lab: FollowedClones, two: Two) => Promise<void>): () => Promise<Two> {
  return async () => {
    const lab = new FollowedClones();
    ending = () => lab.end();
    const { a, b } = await lab.pair({ [FILE]: BASE });
    for (const each of [a, b]) await each.follow({ write: true });
    await make(lab, [a, b]);
    await a.settle();
    return [a, b];
  };
}

function discarded(text: string): () => Promise<Two> {
  return inGit(async (lab, [a, b]) => {
    await b.save(text);
    await exchange([a, b]);
    await a.pass(120_000);
    await lab.run(a, "checkout", "--", FILE);
  });
}

function stashed(text: string): () => Promise<Two> {
  return inGit(async (lab, [a]) => {
    await a.save(text);
    await lab.run(a, "stash");
  });
}

/** Another history of git in the place of the one that was read. */
function replaced(text: string): () => Promise<Two> {
  return inGit(async (lab, [a, b]) => {
    await lab.commit(a, TESTS);
    await a.settle();
    await exchange([a, b]);
    await lab.run(a, "checkout", "-q", "--orphan", "anew");
    await lab.commit(a, text);
    await lab.run(a, "branch", "-M", "main");
  });
}

/** How a conflict comes about, and of which kind it is. */
const WAYS: Readonly<
  Record<string, readonly [make: () => Promise<Two>, ...kinds: TextConflictKind[]]>
> = {
  "two mended a line": [apart(TESTS, CHECKS), "both"],
  "one deleted a line, the other mended it": [apart(WITHOUT, TESTS), "both"],
  "a save lacks what just came": [stale(ADDED, OTHER), "unseen"],
  "a save has what just went": [stale(WITHOUT, OTHER), "unseen"],
  "a save has another line than what just came": [stale(TESTS, CHECKS), "unseen"],
  "a save has what just came elsewhere": [
    stale(ADDED, saying("push", "- push\n- one\n- two\n")),
    "moved",
  ],
  "a save undoes line endings": [stale(BASE.replaceAll("\n", "\r\n"), OTHER), "format"],
  "two moved a line": [
    apart(
      WITHOUT.replace("- tag\n", "- tag\n- lint\n"),
      WITHOUT.replace("- stop\n", "- stop\n- lint\n"),
    ),
    "twice",
  ],
  "most was deleted": [
    inFolders(async (lab) => {
      const [a, b] = await lab.pair(BASE);
      await a.save("# Widget\n\n## Build\n\n- install\n");
      return [a, b];
    }),
    "deletion",
  ],
  "a file that was gone has other lines": [renewed(BASE), "renewed"],
  "a file that was gone has deleted lines": [renewed(WITHOUT), "renewed"],
  "git discards another's line": [discarded(TESTS), "set-aside"],
  "git discards another's deletion": [discarded(WITHOUT), "set-aside"],
  "git stashes a line": [stashed(TESTS), "set-aside"],
  "git stashes a deletion": [stashed(WITHOUT), "set-aside"],
  "git has another history": [replaced(OTHER), "elsewhere", "renewed"],
};

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => /\w/.test(line));
}

for (const [what, [make, ...kinds]] of Object.entries(WAYS)) {
  for (const [nth, kind] of kinds.entries()) {
    for (const chosen of [0, 1]) {
      for (const dismisses of ["a", "b"]) {
        test(`where ${what}, what one machine dismisses while the other chooses is not lost untold (${kind} ${nth}, version ${chosen + 1}, ${dismisses} dismisses)`, async () => {
          const machines = await make();
          const [a, b] = machines;
          await exchange(machines);
          for (const each of machines) await each.pass(120_000);
          const found = await a.conflicts();
          expect(found.map((each) => each.kind).sort()).toEqual([...kinds].sort());
          const conflict = found.filter((each) => each.kind === kind)[kinds[0] === kind ? nth : 0];
          const before = await a.doc();
          const [one, other] = dismisses === "a" ? [a, b] : [b, a];
          const choice = await other.choiceOf(conflict?.versions[chosen]?.text ?? "", conflict?.id);
          await one.dismiss(conflict?.id ?? "");
          expect(linesOf(await one.doc())).toEqual(expect.arrayContaining(linesOf(before)));
          await other.drain(choice);
          for (let round = 0; round < 2; round++) await exchange(machines);
          const left = await a.conflicts();
          const told = left.flatMap(({ versions }) =>
            versions.flatMap(({ text }) => linesOf(text)),
          );
          const after = linesOf(await a.doc());
          expect([...after, ...told]).toEqual(expect.arrayContaining(linesOf(before)));
          if (kind === "twice") expect(after.filter((line) => line === "- lint")).toHaveLength(2);
          expect(await b.listed()).toEqual(await a.listed());
          for (const id of await a.listed()) await a.dismiss(id);
          for (let round = 0; round < 2; round++) await exchange(machines);
          expect([await a.listed(), await b.listed()]).toEqual([[], []]);
          expect(linesOf(await b.doc())).toEqual(expect.arrayContaining(after));
        });
      }
    }
  }
}
