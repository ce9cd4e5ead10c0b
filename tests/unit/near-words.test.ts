import { expect, test } from "bun:test";
import { COMMAND_GROUPS } from "../../cli/command-groups.ts";
import { didYouMean } from "../../cli/screen/did-you-mean.ts";
import { nearWords } from "../../shared/near-words.ts";

const COMMANDS = COMMAND_GROUPS.flatMap(({ names }) => [...names]);

test("a word with a slip or two for its length is near the one that was meant", () => {
  for (const [word, meant] of [
    ["statsu", ["status", "stats"]],
    ["lnik", ["link"]],
    ["serch", ["search"]],
    ["gte", ["get"]],
    ["SYNC", ["sync"]],
    ["conflcit", ["conflicts"]],
    ["uninstal", ["uninstall"]],
    ["stat", ["start", "stats"]],
  ] as const) {
    expect([word, nearWords(word, COMMANDS)]).toEqual([word, [...meant]]);
  }
});

test("a word that is another one is near none", () => {
  for (const word of [
    "bogus",
    "foo",
    "x",
    "",
    "ls",
    "delete",
    "pull",
    "commit",
    "help-me-please",
  ]) {
    expect([word, nearWords(word, COMMANDS)]).toEqual([word, []]);
  }
  expect(nearWords("anything", [])).toEqual([]);
});

test("of words that are as near as each other each is named", () => {
  expect(didYouMean("statsu", COMMANDS)).toBe(': did you mean "status" or "stats"?');
  expect(didYouMean("bogus", COMMANDS)).toBe("");
});

test("what a word is the beginning of is named, too", () => {
  expect(didYouMean("stat", COMMANDS)).toBe(': did you mean "status" or "stats" or "start"?');
  expect(didYouMean("Confl", COMMANDS)).toBe(': did you mean "conflicts"?');
  expect(didYouMean("st", COMMANDS)).toBe("");
});
