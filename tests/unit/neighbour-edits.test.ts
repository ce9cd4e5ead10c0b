import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

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

const lab = foldersOfEach();

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

const ASK = put("Ask Bob.", "Ask Bob first.");
const TWO = put("Ask Bob.", "Ask Bob.\nOr Ann.");
const APART = put("Ask Bob.", "Ask Bob.\n\nOr Ann.");

for (const [what, begin, mend] of [
  ["its only line", put("", ""), ASK],
  ["its only line, beyond recognition", put("", ""), put("Ask Bob.", "Mail the list.")],
  ["one of two lines", TWO, ASK],
  ["both lines", TWO, (base: string) => ASK(base).replace("Or Ann.", "Or Ann then.")],
  ["one of two paragraphs", APART, ASK],
] as const) {
  test(`a section that one renames, and in which the other mends ${what}, is no deletion`, async () => {
    const base = begin(BASE);
    const [a, b] = await lab.savedApart(base, [RENAME(base), mend(base)]);
    await exchange([a, b]);
    expect([a.file(), b.file()]).toEqual([mend(RENAME(base)), mend(RENAME(base))]);
    expect(await a.conflicts()).toEqual([]);
  });
}

const INSTALL = put(
  "## Contacts",
  "```sh\nnpm install all\nnpm run token\n```\n\n## Contacts",
)(BASE);
const KIND = put("```sh", "```bash");
const CI = put("npm install all", "npm ci install all");

for (const [what, brought, saved, other] of [
  ["elsewhere", put("Ask Bob.", "Ask Bob.\n\nAnd Ann."), "after", CI],
  [
    "elsewhere, by another text",
    put("Ask Bob.", "Ask Bob.\n\nAnd Ann."),
    "after",
    put("npm install all", "yarn"),
  ],
  ["above, by a save that lacks that", put("```sh", "Look at this.\n\n```sh"), "before", CI],
] as const) {
  test(`a fence and the line below it keep their order where more came ${what}`, async () => {
    for (const isTurned of [false, true]) {
      const [a, b] = await lab.pair(INSTALL);
      const [one, two] = isTurned ? [b, a] : [a, b];
      await one.save(brought(INSTALL));
      await exchange([a, b]);
      await one.save(other(brought(INSTALL)));
      await two.save(KIND(saved === "after" ? brought(INSTALL) : INSTALL));
      await exchange([a, b]);
      const wanted = KIND(other(brought(INSTALL)));
      expect([a.file(), b.file()].map(solid)).toEqual([wanted, wanted].map(solid));
    }
  });
}

/** Without blank lines, which come from both. */
function solid(text: string): string {
  return text.replace(/\n{2,}/g, "\n");
}
