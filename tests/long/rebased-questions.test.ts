import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, LONG_MS, type Pair } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- alpha\n- beta\n- gamma\n\n## End\n\n- omega\n- sigma\n- tau\n";
const PLACE = /<{7} .*\n[\s\S]*?={7}\n([\s\S]*?)>{7} .*\n/g;
const BETA = ["- beta of a\n", "- beta of b\n"] as const;
const SIGMA = ["- sigma of a\n", "- sigma of b\n"] as const;

const lab = clonesOfEach();

/** Both commit once for each of these words, of the same lines; b has not pulled. */
async function committed(words: readonly string[], write: boolean): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  for (const each of [a, b]) {
    await each.follow({ write });
    await each.pass(LONG_MS);
  }
  for (const each of [a, b]) {
    let text = START;
    for (const word of words) {
      text = text.replace(`- ${word}\n`, `- ${word} of ${each.name}\n`);
      await lab.commit(each, text);
    }
  }
  await lab.run(a, "push", "-q");
  await b.settle();
  return pair;
}

/** `b` keeps its own lines at each conflict of a rebase. */
async function rebase({ a, b }: Pair, isHeard: boolean): Promise<void> {
  await lab.git.runToFailure(b.dir, "pull", "--rebase", "-q");
  await b.settle();
  if (isHeard) {
    await a.settle();
    await exchange([a, b]);
  }
  while (b.file().includes("<<<<<<<")) {
    await b.save(b.file().replace(PLACE, "$1"));
    await lab.run(b, "add", FILE);
    await b.settle();
    const goOn = lab.run(b, "-c", "core.editor=true", "rebase", "--continue");
    await goOn.catch(() => undefined);
    await b.settle();
  }
  for (const each of [a, b, a, b]) {
    await each.settle();
    await exchange([a, b]);
  }
}

async function told(at: FollowedMachine): Promise<string[][]> {
  const open = await at.listed();
  const all = (await at.conflicts()).filter(({ id }) => open.includes(id));
  return all.map(({ versions }) => versions.map(({ text }) => text)).sort();
}

for (const write of [true, false])
  for (const isHeard of [true, false])
    for (const [words, disputed] of [
      [["beta"], [BETA]],
      [
        ["beta", "sigma"],
        [BETA, SIGMA],
      ],
    ] as const) {
      const when = `${isHeard ? "" : "un"}heard of, ${write ? "" : "not "}written`;
      test(`own lines of ${words.length === 1 ? "a rebased commit" : "two rebased commits"} are in question against others' alone (${when})`, async () => {
        const pair = await committed(words, write);
        await rebase(pair, isHeard);
        const both = disputed.map((each) => each.join(""));
        const questions = await told(pair.b);
        const of = (machine: string) => questions.flat().join("").includes(`of ${machine}`);
        expect({ a: of("a"), b: of("b") }).toEqual({ a: true, b: true });
        const beside = questions.filter(([one, other]) => one === "" && /of b/.test(other ?? ""));
        expect(beside).toEqual([]);
        for (const text of [await pair.a.doc(), await pair.b.doc()]) {
          for (const line of both.join("").split("\n")) expect(text).toContain(line);
        }
        expect(await told(pair.a)).toEqual(questions);
      });
    }
