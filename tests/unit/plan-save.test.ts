import { describe, expect, test } from "bun:test";
import { type Arrival, changeBetween } from "../../daemon/files/arrivals/arrivals.ts";
import { planSave } from "../../daemon/files/saves/plan-save.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { PLAIN_FORM } from "../../shared/replica/text/text-form.ts";

const NOW = 1_750_000_000_000;

/**
 * A file that showed `before` until others made it `shown`, just now; and a save of it.
 * `isShown`: false where a former save left out what they brought.
 */
function save(before: string, shown: string, saved: string, isShown = true) {
  const document = new ReplicaDocument([], 1);
  document.setContent(before, NOW);
  const from = { hash: "", base: document.captureText(), form: PLAIN_FORM };
  document.setContent(shown, NOW);
  const to = { hash: "", base: document.captureText(), form: PLAIN_FORM };
  const change = changeBetween(from, to);
  const unseen: Arrival[] = change ? [{ ...change, id: 1, at: NOW, machine: "desktop" }] : [];
  const live = document.captureText();
  const facts = {
    base: isShown ? live : from.base,
    live,
    unseen,
    author: { machine: "laptop" },
    savedAt: NOW,
    isPulled: false,
  };
  const plan = planSave({ ...facts, lines: saved });
  document.editText(plan.base, plan.lines, plan.hunks);
  return { text: document.content(), conflicts: plan.conflicts };
}

function textsOf({ conflicts }: ReturnType<typeof save>) {
  return conflicts.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)]);
}

const DEPLOY = "## Deploy\n```bash\nmake deploy\n```\n";
const LINT = "## Lint\n```bash\nmake lint\n```\n";

describe("a save that may not have seen others' change", () => {
  test("a save that may not have seen others' change keeps their block whole beside one that has lines in common with it", () => {
    const taken = save("# Guide\n", `# Guide\n${DEPLOY}`, `${LINT}# Guide\n`);
    expect(taken.text).toBe(`${LINT}# Guide\n${DEPLOY}`);
    expect(textsOf(taken)).toEqual([["unseen", DEPLOY, ""]]);
  });

  test("a save that may not have seen others' change moves a block of theirs that it has elsewhere, and says so", () => {
    const taken = save("# Guide\nlast\n", `# Guide\n${DEPLOY}last\n`, `${DEPLOY}# Guide\nlast\n`);
    expect(taken.text).toBe(`${DEPLOY}# Guide\nlast\n`);
    expect(textsOf(taken)).toEqual([["moved", DEPLOY, DEPLOY]]);
  });

  test("a save that may not have seen others' change leaves its last fence where it is when it has their line elsewhere", () => {
    const code = "## Code\n```sh\nmake all\n```\n";
    const other = code.replaceAll("```", "~~~");
    const brought = "their line\n";
    const saved = `# Guide\none\n${other.replace("\n", `\n${brought}`)}`;
    const taken = save(`# Guide\none\n${code}`, `# Guide\n${brought}one\n${code}`, saved, false);
    expect(taken.text).toBe(saved);
  });

  test("a save that may not have seen others' change does not move back what they moved", () => {
    const taken = save("one\ntwo\nthree\n", "two\nthree\none\n", "one\ntwo\nthree\nfour\n");
    expect(taken.text).toBe("two\nthree\nfour\none\n");
    expect(textsOf(taken)).toEqual([["moved", "one\n", "one\n"]]);
  });

  test("a save that may not have seen others' change does not double what they moved beside a line of their own", () => {
    const shown = "two\nthree\none\nnew\n";
    const taken = save("one\ntwo\nthree\n", shown, "one\ntwo\nthree\nfour\n");
    expect(taken.text.match(/one/g)).toHaveLength(1);
    expect(taken.text).toContain("new\n");
    expect(textsOf(taken).map(([kind]) => kind)).toEqual(["unseen", "moved"]);
  });

  test("a save that may not have seen others' change has a line once that they pasted back and that it has in a block of its own", () => {
    const taken = save("first\nlast\n", "first\nback\nnew\nlast\n", "first\nlast\nback\nold\n");
    expect(taken.text).toBe("first\nback\nnew\nlast\nold\n");
    expect(textsOf(taken)).toEqual([
      ["unseen", "new\n", ""],
      ["moved", "back\n", "back\n"],
    ]);
  });

  test("a save that may not have seen others' change has no version of what it only moved", () => {
    const one = "## One\n- of one\n";
    const two = "## Two\n- x\n- y\n- z\n";
    const taken = save(`${one}${two}- b\n`, `${one}${two}- b, mended\n`, `${two}- b\n${one}`);
    expect(textsOf(taken)).toEqual([["unseen", "- b, mended\n", "- b\n"]]);
    expect(taken.text).toContain(one);
  });

  test("a save that may not have seen others' change takes no line out of its blocks of code", () => {
    const build = "```bash\nmake all\nmake lint\n```\n";
    const taken = save("# Guide\n", `# Guide\nUse make all\n${build}`, "# Guide\n");
    const again = save("# Guide\n", `# Guide\n${build}`, `\`\`\`sh\nmake all\n\`\`\`\n# Guide\n`);
    expect(taken.text).toContain(build);
    expect(again.text).toBe(`\`\`\`sh\nmake all\n\`\`\`\n# Guide\n${build}`);
  });

  test("a save that may not have seen others' change has one conflict for all that it undid of a change, with where it stood", () => {
    const lines = Array.from({ length: 300 }, (_, at) => `line ${at}\n`);
    const shown = lines.map((line, at) => (at % 2 === 0 ? line : `changed ${line}`)).join("");
    const { conflicts, text } = save(lines.join(""), shown, lines.join(""));
    expect(conflicts).toHaveLength(1);
    expect(conflicts[0]?.versions[0].places).toHaveLength(150);
    for (const line of lines) expect(text).toContain(line);
    expect(text.match(/changed/g)).toHaveLength(150);
  });

  test("a save that may not have seen others' change brings back rules and pictures with a conflict, as it does words", () => {
    for (const line of ["***\n", "✅ ❌\n"]) {
      const taken = save(`one\n${line}two\n`, "one\ntwo\n", `one\n${line}two\nnote\n`);
      expect(taken.text).toBe(`one\n${line}two\nnote\n`);
      expect(textsOf(taken)).toEqual([["unseen", "", line]]);
    }
  });

  test("a save that may not have seen others' change says nothing where it undoes nothing", () => {
    expect(save("one\n", "one\ntwo\n", "zero\none\ntwo\nthree\n").conflicts).toEqual([]);
    expect(save("one\n", "one\ntwo\n", "two\n").conflicts).toEqual([]);
  });
});
