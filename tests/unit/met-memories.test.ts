import { afterEach, beforeEach, expect, test } from "bun:test";
import { listConflicts } from "../../cli/local/local-conflicts.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { SERENA } from "../support/serena-machines.ts";

const TOPIC = "# Topic\n\na wrong fact\n";
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 3_600_000;

for (const [kind, format] of [
  ["auto memory", undefined],
  ["Serena topic", SERENA],
] as const) {
  let all: MemoryMachine[] = [];

  beforeEach(async () => {
    all = [];
    for (const name of ["a", "b", "third"]) all.push(await MemoryMachine.start(name, format));
  });
  afterEach(async () => {
    for (const machine of all) await machine.remove();
  });

  const later = (ms = HOUR_MS) => {
    for (const machine of all) machine.world.advance(ms);
  };

  const conflicts = () =>
    Promise.all(
      all.map(async ({ store }) => (await listConflicts(store.reader)).map((each) => each.kind)),
    );

  test(`an old copy of a deleted ${kind} that looks new brings it back on no machine untold`, async () => {
    const [a, b, third] = all as [MemoryMachine, MemoryMachine, MemoryMachine];
    a.save("topic.md", TOPIC);
    await settleMemories(a, b);
    later();
    b.drop("topic.md");
    await settleMemories(a, b);
    await b.settle("topic.md", "delete");
    await settleMemories(a, b);
    later();
    // As `cp -r` and a clone write it: with the time of now.
    third.save("topic.md", TOPIC);
    await exchangeKept(...all);
    await settleMemories(...all);
    for (const machine of all) expect(await machine.values("topic.md")).toEqual([TOPIC]);
    expect(await conflicts()).toEqual([["deletion"], ["deletion"], ["deletion"]]);
  });

  /** The one deletes its file, and the other one agrees to that. */
  async function deleted(...texts: readonly string[]): Promise<void> {
    const [a, b] = all as [MemoryMachine, MemoryMachine];
    for (const text of texts) {
      a.save("topic.md", text);
      await settleMemories(a, b);
      later();
    }
    a.drop("topic.md");
    await settleMemories(a, b);
    await a.settle("topic.md", "delete");
    await settleMemories(a, b);
    await b.settle("topic.md", "delete");
    await settleMemories(a, b);
    expect(await b.values("topic.md")).toEqual([]);
  }

  async function expectSaved(
    on: MemoryMachine | undefined,
    text: string,
    told: readonly "deletion"[],
  ): Promise<void> {
    on?.save("topic.md", text);
    await settleMemories(...all);
    for (const machine of all) expect(await machine.values("topic.md")).toEqual([text]);
    expect(await conflicts()).toEqual([[...told], [...told], [...told]]);
  }

  for (const [what, text, told] of [
    ["another text is begun anew", "# Topic\n\na quite new and other text\n", []],
    ["the text that it had may be a copy", TOPIC, ["deletion"]],
    ["so may one with an empty line more", `${TOPIC}\n`, ["deletion"]],
    ["so may one with other line ends", TOPIC.replaceAll("\n", "\r\n"), ["deletion"]],
    ["so may one with a line in a list", "# Other\n\n- A wrong fact.\n", ["deletion"]],
    ["so may one whose line was mended", "a wrong fact, mended\n", ["deletion"]],
  ] as const)
    for (const by of ["a", "b"] as const)
      test(`of a deleted ${kind} that is there again, ${what}, on ${by}`, async () => {
        await deleted(TOPIC);
        for (let passed = 0; passed < 3; passed++) {
          later();
          await settleMemories(...all.slice(0, 2));
        }
        await expectSaved(all[by === "a" ? 0 : 1], text, told);
      });

  for (const [when, ms] of [
    ["a second", SECOND_MS],
    ["a minute", MINUTE_MS],
    ["an hour", HOUR_MS],
  ] as const)
    test(`an editor that saves a deleted ${kind} with a line more is told, after ${when}`, async () => {
      await deleted(TOPIC);
      later(ms);
      await settleMemories(...all);
      await expectSaved(all[1], `${TOPIC}one line more\n`, ["deletion"]);
    });

  test(`an editor that saves a former version of a deleted ${kind} with a line more is told`, async () => {
    await deleted(TOPIC, "# Topic\n\nsomething else entirely\n");
    await expectSaved(all[1], `${TOPIC}one line more\n`, ["deletion"]);
  });

  test(`of a deleted ${kind} that had its title alone, the title says that it is there again`, async () => {
    await deleted("# Never push by force\n");
    await expectSaved(all[1], "# Never push by force\n\nAsk Ann first\n", ["deletion"]);
  });
}
