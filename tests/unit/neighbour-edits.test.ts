import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { FollowedFolders } from "../support/followed-folders.ts";
import { exchange } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const LIST = "- [ ] npm run build\n- [ ] npm run check\n- [ ] npm run ship\n";
const BASE = `# Guide\n\n## Commands\n\n${LIST}\n## Contacts\n\nAsk Bob.\n`;
const FENCE = "```sh\nnpm run token\n```\n";

const put = (text: string, by: string) => (base: string) => base.replace(text, by);
const tick = (command: string) => put(`[ ] npm run ${command}`, `[x] npm run ${command}`);
const below = (command: string, line: string) =>
  put(`run ${command}\n`, `run ${command}\n${line}\n`);
const above = (command: string, line: string) =>
  put(`- [ ] npm run ${command}`, `${line}\n- [ ] npm run ${command}`);
const RENAME = put("## Contacts", "## Whom to ask");

let lab: FollowedFolders;

beforeEach(() => {
  lab = new FollowedFolders();
});

afterEach(() => lab.end());

type Change = (base: string) => string;

/** What two machines do while apart; what the second does can be done after the first. */
const NEIGHBOURS: Readonly<Record<string, readonly [one: Change, other: Change]>> = {
  "a new line and the last one above it, mended": [below("ship", "- also new"), tick("ship")],
  "a new line and the first one below it, mended": [above("build", "- also new"), tick("build")],
  "a new line and the one below it, mended": [above("check", "- also new"), tick("check")],
  "a new line and those on both sides of it, mended": [
    below("build", "- also new"),
    (base) => tick("check")(tick("build")(base)),
  ],
  "two boxes, ticked one below the other": [tick("check"), tick("ship")],
  "every other line, and those between them": [
    (base) => tick("build")(tick("ship")(base)),
    tick("check"),
  ],
  "a paragraph at a section's end and the next heading, renamed": [
    put("\n## Contacts", "\nSee the docs.\n\n## Contacts"),
    RENAME,
  ],
  "a block at a section's end and the next heading, renamed": [
    put("\n## Contacts", `\n${FENCE}\n## Contacts`),
    RENAME,
  ],
  "a paragraph at a section's end and the next heading, renamed, with a line below": [
    put("\n## Contacts", "\nSee the docs.\n\n## Contacts"),
    (base) => put("Ask Bob.", "Be brief.\n\nAsk Bob.")(RENAME(base)),
  ],
};

for (const [what, [one, other]] of Object.entries(NEIGHBOURS)) {
  for (const [order, changes] of [
    ["", [one, other]],
    [", the other way round", [other, one]],
  ] as const) {
    test(`different lines are nobody's conflict: ${what}${order}`, async () => {
      const [first, second] = changes;
      const machines = await lab.savedApart(BASE, [first(BASE), second(BASE)]);
      await exchange(machines);
      for (const each of machines) {
        expect(each.file()).toBe(other(one(BASE)));
        expect(await each.conflicts()).toEqual([]);
      }
    });
  }
}

test("a block written above another one, to which the other machine gives another kind, stays above it", async () => {
  const base = put("\n## Contacts", `\n${FENCE}\n## Contacts`)(BASE);
  const block = "```sh\nnpm run queue\n```\n\n";
  const [above, kind] = [put(FENCE, block + FENCE)(base), put("```sh", "```bash")(base)];
  for (const texts of [[above, kind] as const, [kind, above] as const]) {
    const machines = await lab.savedApart(base, texts);
    await exchange(machines);
    for (const each of machines) {
      expect(each.file()).toBe(put(FENCE, block + FENCE.replace("sh", "bash"))(base));
      expect(await each.conflicts()).toEqual([]);
    }
    await lab.end();
    lab = new FollowedFolders();
  }
});

/** Where two readings are possible. */
const UNCLEAR: Readonly<Record<string, readonly [one: Change, other: Change]>> = {
  "a mended line and a new one that is as much like it": [
    put("[ ] npm run ship", "[ ] npm run ship --now"),
    below("ship", "- [ ] npm run ship --later"),
  ],
  "a mended line and a new one that says what was mended": [
    put("[ ] npm run ship", "[ ] npm run ship, ask the two of them on call first"),
    below("ship", "- ask the two of them on call first"),
  ],
  "a line with something else in its place and a new one": [
    put("- [ ] npm run ship", "- never on a Friday"),
    below("ship", "- also new"),
  ],
  "two lines joined and a new one": [
    put("check\n- [ ] npm run ship", "check and ship"),
    below("ship", "- also new"),
  ],
  "a new line and another one, below a mended line": [
    (base) => tick("ship")(below("ship", "- also new")(base)),
    below("ship", "- quite different"),
  ],
};

for (const [what, [one, other]] of Object.entries(UNCLEAR)) {
  test(`what may be one line is told: ${what}`, async () => {
    const machines = await lab.savedApart(BASE, [one(BASE), other(BASE)]);
    await exchange(machines);
    for (const each of machines) expect(await each.conflicts()).toHaveLength(1);
  });
}
