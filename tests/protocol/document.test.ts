import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const PROTOCOL = await Bun.file(join(ROOT, "PROTOCOL.md")).text();

/** A test that the page names. */
interface Named {
  readonly invariant: string;
  readonly path: string;
  readonly name: string;
}

const INVARIANT = /^- \*\*([A-Z]\d+)\./;
const ENFORCED_BY = /^ {2}- (tests\/\S+): "(.+)"$/;

/** The invariants by their numbers, each with the tests that it names. */
function readInvariants(page: string): Map<string, Named[]> {
  const invariants = new Map<string, Named[]>();
  let invariant = "";
  for (const line of page.split("\n")) {
    const number = INVARIANT.exec(line)?.[1];
    if (number !== undefined) {
      if (invariants.has(number)) throw new Error(`there are two of ${number}`);
      invariant = number;
      invariants.set(number, []);
    }
    const [, path, name] = ENFORCED_BY.exec(line) ?? [];
    if (path !== undefined && name !== undefined) {
      invariants.get(invariant)?.push({ invariant, path, name });
    }
  }
  return invariants;
}

/** The names of tests in a module: the first word of whatever is called a test or a scenario. */
function testNamesIn(source: string): string[] {
  const calls = source.matchAll(/\b(?:test|scenario|replay)\(\s*(["`])((?:(?!\1).)+)\1/g);
  return [...calls].map(([, , name = ""]) => name);
}

async function namesIn(path: string): Promise<string[]> {
  const file = Bun.file(join(ROOT, path));
  return (await file.exists()) ? testNamesIn(await file.text()) : [];
}

const invariants = readInvariants(PROTOCOL);

test("the invariants are numbered without a gap, and each names a test", () => {
  const letters = [...new Set([...invariants.keys()].map((number) => number[0]))];
  expect(letters).toEqual(["S", "C", "P", "F"]);
  const counted = letters.flatMap((letter) => {
    const many = [...invariants.keys()].filter((number) => number[0] === letter).length;
    return Array.from({ length: many }, (_, at) => `${letter}${at + 1}`);
  });
  expect([...invariants.keys()]).toEqual(counted);
  expect([...invariants].filter(([, tests]) => tests.length === 0)).toEqual([]);
});

test("every test that is named exists", async () => {
  const unknown: Named[] = [];
  for (const named of [...invariants.values()].flat()) {
    if (!(await namesIn(named.path)).includes(named.name)) unknown.push(named);
  }
  expect(unknown).toEqual([]);
});

test("every test of the protocol is named", async () => {
  const named = new Set([...invariants.values()].flat().map(({ path, name }) => path + name));
  const forgotten: string[] = [];
  for (const file of readdirSync(import.meta.dir).filter((each) => each.endsWith(".test.ts"))) {
    if (file === "document.test.ts") continue;
    const path = `tests/protocol/${file}`;
    for (const name of await namesIn(path)) if (!named.has(path + name)) forgotten.push(name);
  }
  expect(forgotten).toEqual([]);
});

test("a test that is not there, and a number that is there twice, are found", () => {
  const page = '- **S1. One.**\n  - tests/a.test.ts: "b"\n- **S2. Two.**\n';
  expect([...readInvariants(page).values()].map((tests) => tests.length)).toEqual([1, 0]);
  expect(() => readInvariants(`${page}- **S1. Again.**\n`)).toThrow("two of S1");
  expect(testNamesIn('test("b c", () => {});\nscenario(`d e`, f);')).toEqual(["b c", "d e"]);
});
