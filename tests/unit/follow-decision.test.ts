import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decideFollowing, type FollowFacts } from "../../daemon/files/state/decide-following.ts";

const VALUES = {
  file: ["absent", "blank", "text"],
  known: ["never", "blank", "text", "gone"],
  bytes: ["same", "other"],
  git: ["none", "untracked", "ignored", "tracked", "branch", "busy", "unknown", "lost"],
  tree: ["made", "making"],
  commit: ["same", "onward", "told", "back", "elsewhere"],
  head: ["still", "moved"],
  grace: ["running", "over"],
  consent: ["given", "none"],
  service: ["answered", "silent"],
  document: ["never", "blank", "text"],
} as const satisfies { readonly [Fact in keyof FollowFacts]: readonly FollowFacts[Fact][] };

const FACTS = Object.keys(VALUES) as (keyof FollowFacts)[];

interface Row {
  readonly fits: (facts: FollowFacts) => boolean;
  readonly decision: string;
}

/** The rows of the table in the document, which name each fact in its column. */
function readTable(): Row[] {
  const text = readFileSync(join(import.meta.dir, "../../docs/design/files.md"), "utf8");
  const [, section = ""] = /^## What is done with a file\n([\s\S]*?)^## /m.exec(text) ?? [];
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  const [heading, , ...rows] = lines.map(cellsOf);
  expect(heading).toEqual([...FACTS, "decision"]);
  return rows.map((cells) => {
    const allowed = FACTS.map((fact, at) => wordsOf(fact, cells[at] ?? ""));
    const fits = (facts: FollowFacts) =>
      FACTS.every((fact, at) => allowed[at]?.includes(facts[fact]));
    return { fits, decision: cells.at(-1) ?? "" };
  });
}

function cellsOf(line: string): string[] {
  return line
    .slice(2, -2)
    .split(/ (?<!\\)\| /)
    .map((cell) => cell.trim());
}

function wordsOf(fact: keyof FollowFacts, cell: string): readonly string[] {
  const values: readonly string[] = VALUES[fact];
  if (cell === "*") return values;
  const words = cell.split(" \\| ");
  expect(values).toEqual(expect.arrayContaining(words));
  return words;
}

function* combinations(): Generator<FollowFacts> {
  const chosen: Record<string, string> = {};
  function* choose(at: number): Generator<FollowFacts> {
    const fact = FACTS[at];
    if (!fact) {
      yield { ...chosen } as unknown as FollowFacts;
      return;
    }
    for (const value of VALUES[fact]) {
      chosen[fact] = value;
      yield* choose(at + 1);
    }
  }
  yield* choose(0);
}

test("the decision is the table's, for every combination of facts", () => {
  const table = readTable();
  const used = new Set<Row>();
  const wrong: string[] = [];
  let count = 0;
  for (const facts of combinations()) {
    count += 1;
    const row = table.find((each) => each.fits(facts));
    if (row) used.add(row);
    if (row?.decision !== decideFollowing(facts)) {
      wrong.push(`${JSON.stringify(facts)}: ${row?.decision}, not ${decideFollowing(facts)}`);
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(count).toBe(FACTS.reduce((product, fact) => product * VALUES[fact].length, 1));
  expect(table.filter((row) => !used.has(row))).toEqual([]);
});

test("nothing is made in a folder that git is still making", () => {
  for (const facts of combinations()) {
    if (facts.tree === "making") expect(decideFollowing(facts)).not.toBe("create");
  }
});

test("nothing but an edit, and that of a file with text or an emptied one, deletes anything", () => {
  for (const facts of combinations()) {
    const decision = decideFollowing(facts);
    if (facts.file === "absent") expect(decision).not.toBe("edit");
    if (decision !== "edit") continue;
    expect(["busy", "unknown", "branch"]).not.toContain(facts.git);
    const isEmptied = facts.file === "blank" && facts.known === "text";
    if (isEmptied) expect([facts.head, facts.grace]).toEqual(["still", "over"]);
    if (facts.git === "tracked" && facts.file === "text") {
      expect(["same", "onward"]).toContain(facts.commit);
    }
  }
});
