import { expect, test } from "bun:test";
import { join } from "node:path";
import { withoutModifiers } from "../../scripts/without-modifiers.ts";
import { pick, seededRandom } from "../support/random.ts";

const RULES = join(import.meta.dir, "../../daemon/held/gitleaks-rules.json");

/** A pattern, whether it ignores case otherwise, and the characters of which texts are made. */
const PATTERNS = [
  ["x(?i:b[c-e])y", false, "xXbBdDyY"],
  ["a(?-i:b|[Cc]d)e", true, "aAbBcCdDeE"],
  ["(?i:a(?-i:b)[^c])d", false, "aAbBcCd"],
  ["(?<n>a)(?i:[+/_=-]b[x-])\\b", false, "a+_=-AbBxX"],
  ["(?<!a)(?i:b{2,3}\\x41\\w)(?=c|$)", false, "aAbBc"],
  ["[A-z](?i:[W-b])", false, "AaBbVvWwZz[^`"],
] as const;

/** `MEMSYNC_SEED=1` tries that one; a failure prints its own. */
test("a pattern without modifiers finds what it finds with them", () => {
  const seed = Number(process.env.MEMSYNC_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  for (const [pattern, ignoresCase, characters] of PATTERNS) {
    const plain = withoutModifiers(pattern, ignoresCase);
    expect(plain.pattern).not.toMatch(/\(\?-?i:/);
    const [one, other] = [
      new RegExp(pattern, ignoresCase ? "gi" : "g"),
      new RegExp(plain.pattern, plain.ignoresCase ? "gi" : "g"),
    ];
    let found = 0;
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: 12 }, () => pick(random, [...characters])).join("");
      const matches = [...text.matchAll(one)].map((match) => [match.index, ...match]);
      found += matches.length;
      const others = [...text.matchAll(other)].map((match) => [match.index, ...match]);
      expect({ seed, pattern, text, matches: others }).toEqual({ seed, pattern, text, matches });
    }
    expect({ pattern, isFound: found > 0 }).toEqual({ pattern, isFound: true });
  }
  expect(withoutModifiers("a(?:b)", true)).toEqual({ pattern: "a(?:b)", ignoresCase: true });
});

test("no rule has what Node 20 does not know, and Node reads them all", async () => {
  expect(await Bun.file(RULES).text()).not.toMatch(/\(\?-?[ims]+:/);
  const program = `
    const rules = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    const all = [rules, ...rules.rules].flatMap((each) => [
      each.pattern, each.allowed, each.allowed_matches, each.allowed_lines].flat());
    for (const pattern of all) if (pattern !== undefined) new RegExp(pattern, "g");
    console.log(all.length > 200 ? "all" : "too few");`;
  const node = Bun.spawn(["node", "-e", program, RULES], { stdout: "pipe", stderr: "inherit" });
  expect(await new Response(node.stdout).text()).toBe("all\n");
});
