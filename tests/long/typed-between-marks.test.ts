import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { bothHaveAll, FILE, FollowedClones, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n- three\n- four\n\n## End\n\n- five\n- six\n- seven\n";
const TYPED = "- typed\n";
const PLACE = /<{7} .*\r?\n([\s\S]*?)={7}\r?\n([\s\S]*?)>{7} .*\r?\n/;

let lab: FollowedClones;
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(() => {
  lab = new FollowedClones();
});

afterEach(() => lab.end());

async function all(): Promise<void> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.settle();
}

/** Both commit twice, b what conflicts with both of a's commits, of which b knows the text. */
async function commitBoth(text: string): Promise<void> {
  ({ a, b } = await lab.pair({ [FILE]: text }));
  for (const each of [a, b]) await each.pass(LONG_MS);
  await lab.commit(a, text.replace("two", "two of a"));
  await lab.commit(a, text.replace("two", "two of a").replace("six", "six of a"));
  await lab.run(a, "push", "-q");
  await all();
  await lab.commit(b, text.replace("two", "two of b"));
  await lab.commit(b, text.replace("two", "two of b").replace("six", "six of b"));
  await all();
  await lab.run(b, "fetch", "-q");
}

const EDITED = "sequence.editor=sed -i";
const GO_ON = "rebase --continue";
const PATCHES = "../patches/0001-x.patch ../patches/0002-x.patch";
const COMMIT = "commit -q --no-edit --allow-empty";

/** Commands up to the first conflict, from there to the second, and to the end. */
const WAYS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  rebase: [["rebase origin/main"], [GO_ON], [GO_ON]],
  "rebase, squashed": [[`-c,${EDITED} 2s/pick/squash/,rebase -i origin/main`], [GO_ON], [GO_ON]],
  "rebase, edited": [[`-c,${EDITED} s/pick/edit/,rebase -i origin/main`], [GO_ON], [GO_ON]],
  "cherry-pick": [
    ["cherry-pick origin/main~1 origin/main"],
    [COMMIT, "cherry-pick --continue"],
    [COMMIT],
  ],
  revert: [["revert --no-edit origin/main origin/main~1"], [COMMIT, "revert --continue"], [COMMIT]],
  am: [
    ["format-patch -q -2 origin/main -o ../patches", `am -3 ${PATCHES}`],
    ["am --continue"],
    ["am --continue"],
  ],
  merge: [["merge -q origin/main~1"], [COMMIT, "merge -q origin/main"], [COMMIT]],
  "stash pop": [
    ["reset -q --soft HEAD~2", "stash -q", "reset -q --hard origin/main~1", "stash pop -q"],
    ["commit -qm x", "merge -q origin/main"],
    [COMMIT],
  ],
};

/** The last of several commands may end with git's marks. */
async function run(commands: readonly string[], isConflict: boolean): Promise<void> {
  for (const [nth, command] of commands.entries()) {
    const parts = command.split(",");
    const args = [...parts.slice(0, -1), ...(parts.at(-1) ?? "").split(" ")];
    if (isConflict && nth === commands.length - 1) await lab.git.runToFailure(b.dir, ...args);
    else await lab.run(b, ...args);
  }
  await b.settle();
  expect(PLACE.test(b.file())).toBe(isConflict);
}

for (const [how, [first = [], second = [], last = []]] of Object.entries(WAYS))
  for (const [whose, side] of [
    ["the second side is kept", "$2"],
    ["both sides are kept", "$1$2"],
  ] as const)
    for (const isAmong of [true, false])
      for (const end of how === "rebase" ? ["\n", "\r\n"] : ["\n"]) {
        const when = isAmong ? "among the marks" : "as they are settled";
        const ends = end === "\n" ? "" : ", with CRLF";
        test(`what is typed ${when} of ${how} arrives once where ${whose}${ends}`, async () => {
          const of = (text: string) => text.replaceAll("\n", end);
          await commitBoth(of(START));
          const typed = (text: string) => text.replace(of("Guide\n\n"), of(`Guide\n\n${TYPED}`));
          const settled = () => b.file().replace(PLACE, side);
          await run(first, true);
          if (isAmong) await b.save(typed(b.file()));
          await b.save(isAmong ? settled() : typed(settled()));
          await lab.run(b, "add", FILE);
          await run(second, true);
          await b.save(settled());
          await lab.run(b, "add", FILE);
          await run(last, false);
          const { text } = await bothHaveAll({ a, b });
          expect(text.split(TYPED.trim())).toHaveLength(2);
        });
      }
