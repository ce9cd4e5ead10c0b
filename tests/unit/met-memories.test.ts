import { afterEach, beforeEach, expect, test } from "bun:test";
import { listConflicts } from "../../cli/local/local-conflicts.ts";
import { exchangeMemories, MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { SERENA } from "../support/serena-machines.ts";

const TOPIC = "# Topic\n\na wrong fact\n";
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

  const later = () => {
    for (const machine of all) machine.world.advance(HOUR_MS);
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
    await exchangeMemories(...all);
    await settleMemories(...all);
    for (const machine of all) expect(await machine.values("topic.md")).toEqual([TOPIC]);
    expect(await conflicts()).toEqual([["deletion"], ["deletion"], ["deletion"]]);
  });

  for (const [what, text, told] of [
    ["another text is begun anew", "# Topic\n\na quite new and other text\n", []],
    ["the text that it had may be a copy", TOPIC, ["deletion"]],
  ] as const)
    for (const by of ["a", "b"] as const)
      test(`of a deleted ${kind} that is there again, ${what}, on ${by}`, async () => {
        const [a, b, third] = all as [MemoryMachine, MemoryMachine, MemoryMachine];
        a.save("topic.md", TOPIC);
        await settleMemories(a, b);
        later();
        // The one deletes its file, and the other one agrees to that.
        a.drop("topic.md");
        await settleMemories(a, b);
        await a.settle("topic.md", "delete");
        await settleMemories(a, b);
        await b.settle("topic.md", "delete");
        await settleMemories(a, b);
        for (let passed = 0; passed < 3; passed++) {
          later();
          await settleMemories(a, b);
        }
        expect(await b.values("topic.md")).toEqual([]);
        (by === "a" ? a : b).save("topic.md", text);
        await settleMemories(a, b, third);
        expect(await third.values("topic.md")).toEqual([text]);
        expect(await conflicts()).toEqual([[...told], [...told], [...told]]);
      });
}
