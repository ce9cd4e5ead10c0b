import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowPrivateOf, secretReason } from "../../daemon/held/judge.ts";
import { withoutLinks } from "../../daemon/held/link-targets.ts";
import { personalLinesReason } from "../../daemon/held/personal-lines.ts";
import { allowHeld, dropHeld, listHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { keepPersonalVersion, readPersonalVersions } from "../../daemon/home/personal-versions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { isOnesOwn, lettersOf } from "../../daemon/home/text-line.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { userDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";

const [BEGIN, END] = ["<!-- memsync:personal begin: mine -->", "<!-- memsync:personal end -->"];
const TEXT =
  "# Rules\n\n- mine alone\n---\nIn short:\nbrief\nTypeScript\n1. answer  in verse\n简体中文回答\n";
const PROJECT = projectId("lines");

let a: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  await a.on("claude");
  a.edit("claude", () => TEXT);
  await settlePersonal(a);
});
afterEach(() => a.remove());

const reasonFor = (
  text: string,
  {
    document = PROJECT as string,
    already = ["# Of all\n"],
    others = undefined as (() => string[]) | undefined,
  } = {},
) => personalLinesReason(a.store.reader, { document, text, already, others });

const lines = (...numbers: number[]) => ({ code: "personal-lines", lines: numbers }) as const;

test("lines of one's own text are known without its marks, whatever signs stand before them", async () => {
  expect(await reasonFor("# Of all\n\nmine alone\r\n  * answer in verse\n")).toEqual(lines(3, 4));
  expect(await reasonFor("> mine alone\n> 2. answer in verse\n简体中文回答\n")).toEqual(
    lines(1, 2, 3),
  );
  expect(await reasonFor("# Of all\n")).toBeUndefined();
});

test("the mark that allows a secret allows no line of one's own text, nor its block", async () => {
  const marks = ["<!-- memsync:allow-secret -->", "# memsync:allow-secret", "memsync:allow-secret"];
  for (const mark of marks) {
    expect(await reasonFor(`# Of all\n- mine alone ${mark}\n`)).toEqual(lines(2));
    expect(await reasonFor(`- ${mark} mine alone\n`)).toEqual(lines(1));
    expect(await reasonFor(`mine ${mark} alone\n`)).toEqual(lines(1));
    expect(await reasonFor(`${mark}\n  - mine  alone\t\n`)).toEqual(lines(2));
    for (const block of [`${BEGIN} ${mark}\nanother's\n${END}`, `${mark}\n${BEGIN}\nx\n${END}`]) {
      expect(await secretReason(a.store.reader, block, [])).toMatchObject({
        code: "personal-block",
      });
    }
  }
  const allowed = `${PLANTED.github} <!-- memsync:allow-secret -->\n`;
  expect(await secretReason(a.store.reader, allowed, [])).toBeUndefined();
});

const PASSAGE = "Say “naïve” to Zoë’s café, never Falcon";

/** One line, as editors, assistants, pages and other systems have it. */
const AS_OTHERS_HAVE_IT: readonly (readonly [what: string, line: string])[] = [
  ["decomposed letters", PASSAGE.normalize("NFD")],
  ["bold", `**${PASSAGE}**`],
  ["bold in its midst", PASSAGE.replace("never", "**never**")],
  ["code", PASSAGE.replace("Falcon", "`Falcon`")],
  ["a box", `- [x] ${PASSAGE}`],
  ["an empty box", `- [ ] ${PASSAGE}`],
  ["a full stop", `${PASSAGE}.`],
  ["capitals", PASSAGE.toUpperCase()],
  ["nothing that is seen", [...PASSAGE].join("\u200b")],
  ["a soft hyphen", PASSAGE.replace("Falcon", "Fal\u00adcon")],
  ["another bullet", `• ${PASSAGE}`],
  ["a dash as a bullet", `– ${PASSAGE}`],
  ["a number", `12) ${PASSAGE}`],
  ["a letter", `b. ${PASSAGE}`],
  ["a number in a circle", `③ ${PASSAGE}`],
  ["plain quotes", PASSAGE.replaceAll(/[“”]/g, '"').replace("’", "'")],
  ["full-width letters", PASSAGE.replace("Falcon", "Ｆａｌｃｏｎ")],
  ["no-break spaces", PASSAGE.replaceAll(" ", "\u00a0")],
  ["a heading", `## ${PASSAGE}`],
  ["an element", `<li>${PASSAGE}</li>`],
  ["signs by their names", `&#8203;${PASSAGE.replaceAll(" ", "&nbsp;")}`],
  ["a table's cell", `| style | ${PASSAGE} |`],
  ["something before it", `The user prefers: ${PASSAGE}`],
  ["the line of another rule", `Be kind. ${PASSAGE}. Be quick.`],
  ["JSON", JSON.stringify({ rules: ["Be kind", PASSAGE] })],
  [
    "JSON in ASCII",
    PASSAGE.replace(/[^ -~]/g, (sign) => {
      return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
    }),
  ],
  ["HTML", PASSAGE.replace("ï", "&iuml;").replace("ë", "&#235;").replace("é", "&eacute;")],
  ["a URL", encodeURIComponent(PASSAGE)],
  ["no accents", PASSAGE.replace("ï", "i").replace("ë", "e").replace("é", "e")],
];

/** Links around words of the line or beside them, in one line each. */
const LINKED = [
  "[Falcon](https://example.com/Falcon_(bird))",
  "[Falcon](https://example.com/a(b(c)d)e 'one (of) two')",
  "[Falcon]( https://example.com )",
  "[Falcon](./my notes.md)",
  '[Falcon](https://example.com "one :) two")',
  "[Falcon](https://example.com (the bird))",
  "[Falcon](<a b) c>)",
  "[Falcon](a\\)b)",
  "[![Falcon](a.png)](b.md)",
  "[[Falcon]](https://example.com)",
  "[[the-bird|Falcon]]",
  "[[Falcon]]",
  "[Falcon][a bird]",
  "Falcon[^1]",
  "Falcon <https://example.com>",
  "Falcon <ann@example.com>",
] as const;

/** Short lines, and how they are numbered or written elsewhere. */
const SHORT: readonly (readonly [own: string, ...others: string[]])[] = [
  ["No emojis ever", "1.2 No emojis ever", "**1.** No emojis ever", "1→No emojis ever"],
  [
    "No emojis ever",
    "3→- No emojis ever",
    "1\\. No emojis ever",
    "iv. No emojis ever",
    "| 1 | No emojis ever",
  ],
  [
    "总是用中文回答我的问题",
    "1、总是用中文回答我的问题",
    "（1）总是用中文回答我的问题",
    "一、总是用中文回答我的问题",
  ],
  ["Пиши ещё короче", "пиши еще короче", "ПИШИ ЕЩЁ КОРОЧЕ"],
  ["Μίλα πάντα σε αυτούς", "ΜΙΛΑ ΠΑΝΤΑ ΣΕ ΑΥΤΟΥΣ"],
  ["<https://wiki.example/ann/salary-review>", "- https://wiki.example/ann/salary-review"],
  ["- <ann.private@clinic.example.org>", "<ann.private@clinic.example.org>"],
  ["<b and c> are mine", "<b and c> are mine.", "b and c are mine"],
  ["<my own words>", "**my own words**"],
  ["If a <b and c> d then stop", "if a <b and c> d then stop"],
  ["Mine <em>alone</em>, Ann", '<li class="x">mine alone, Ann</li>'],
];

test("numbers, brackets and a letter's encoding change nothing about a short line", () => {
  for (const [own, ...others] of SHORT) {
    expect([own, isOnesOwn(own), lettersOf(own) !== ""]).toEqual([own, true, true]);
    for (const other of others) expect([other, lettersOf(other)]).toEqual([other, lettersOf(own)]);
  }
  expect(lettersOf("7 days of rest")).toBe("7daysofrest");
  expect(lettersOf("1. 2. 3.")).toBe("123");
});

test("a line of one's own text is known by its letters, however it is set", async () => {
  a.edit("claude", () => `- ${PASSAGE}\n`);
  await settlePersonal(a);
  for (const [what, line] of AS_OTHERS_HAVE_IT) {
    expect([what, await reasonFor(`# Of all\n${line}\n`)]).toEqual([what, lines(2)]);
  }
  const broken = "# Of all\n\nSay “naïve” to\n\n> Zoë’s café, never\n> Falcon\n\nBe quick.\n";
  expect(await reasonFor(broken)).toEqual(lines(3, 5, 6));
  // What the project has, however it is set there, is no news.
  for (const [, line] of AS_OTHERS_HAVE_IT) {
    expect(await reasonFor(`${PASSAGE}!\n`, { already: [line] })).toBeUndefined();
  }
  const held = { kind: "file", document: PROJECT, key: "", value: broken } as const;
  await a.store.write(({ db, now }) => allowPrivateOf(db, held, { now }));
  for (const [, line] of AS_OTHERS_HAVE_IT) expect(await reasonFor(line)).toBeUndefined();
});

test("a sentence of ten Chinese characters is known in the midst of others, and joined", async () => {
  const own = "总是用中文回答我的问题";
  a.edit("claude", () => `- ${own}\n- 用中文回答我\n`);
  await settlePersonal(a);
  for (const line of [`请记住：${own}。`, `| ${own} | 是 |`, JSON.stringify([own, "x"])]) {
    expect([line, await reasonFor(line)]).toEqual([line, lines(1)]);
    expect(await reasonFor(own, { already: [line] })).toBeUndefined();
  }
  expect(await reasonFor("总是用中文\n回答我的问题\n")).toEqual(lines(1, 2));
  expect(await reasonFor("请用中文回答我吧")).toBeUndefined();
});

test("a short line is known as a whole line alone, however it is set", async () => {
  for (const line of ["**Mine alone.**", "- [x] mine alone", "MINE ALONE", "mine, alone"]) {
    expect(await reasonFor(`# Of all\n${line}\n`)).toEqual(lines(2));
  }
  expect(await reasonFor("determine alone\nmine alone, too\n")).toBeUndefined();
});

test("what anybody has holds nothing, nor what is said in other words", async () => {
  const anybodys = "# Rules\n\n---\nIn short:\nbrief\nTypeScript\nalone mine\n";
  expect(await reasonFor(anybodys)).toEqual(undefined);
});

test("what a project has already holds nothing, wherever it stands there", async () => {
  const text = "# Of all\n- mine alone\n";
  expect(await reasonFor(text, { already: ["# Of all\nmine alone\n"] })).toBeUndefined();
  expect(await reasonFor(text, { others: () => ["other", "* mine alone"] })).toBeUndefined();
});

test("a user's own memories may have the lines of his text, and what all see may not", async () => {
  expect(await reasonFor("mine alone\n", { document: `user/${LOCAL_USER}` })).toBeUndefined();
  expect(await reasonFor("mine alone\n", { document: "global" })).toEqual(lines(1));
});

test("lines that somebody allows may be in that project, and in no other", async () => {
  const held = { kind: "file", document: PROJECT, key: "", value: "one\nmine alone\n" } as const;
  await a.store.write(({ db, now }) => allowPrivateOf(db, held, { now }));
  expect(await reasonFor("- mine alone\n")).toBeUndefined();
  expect(await reasonFor("mine alone\nanswer in verse\n")).toEqual(lines(2));
  expect(await reasonFor("mine alone\n", { document: projectId("other") })).toEqual(lines(1));
});

test("what the text has had is known as well", async () => {
  a.edit("claude", () => "another line\n");
  await settlePersonal(a);
  expect(await reasonFor("# Of all\nmine alone\nanother line\n")).toEqual(lines(2, 3));
});

test("what the text has ever had is known, longer than any version is kept", async () => {
  await a.store.write(async ({ db }) => {
    for (let at = 0; at < 70; at++) {
      await keepPersonalVersion(db, { id: `v${at}`, value: `rule ${at} of 70\n`, isOwn: true });
    }
  });
  expect((await readPersonalVersions(a.store.reader)).map(({ id }) => id)).not.toContain("v0");
  expect(await reasonFor("# Of all\nrule 0 of 70\nmine alone\n")).toEqual(lines(2, 3));
});

test("what was held between marks is one's own for good, whosever it is, and whatever goes", async () => {
  const b = await MemoryMachine.start("ben");
  try {
    // This home has no personal text of its own.
    b.save("one.md", `# Of all\n\n${BEGIN}\nrule of another home\n${END}\n`);
    await settleMemories(b);
    expect((await listHeld(b.store.reader)).map(({ reason }) => reason.code)).toEqual([
      "personal-block",
    ]);
    b.save("one.md", "");
    await settleMemories(b);
    for (const item of await listHeld(b.store.reader)) {
      await b.store.write(({ db }) => dropHeld(db, item));
    }
    b.save("one.md", "# Of all\n\nrule of another home\n");
    await settleMemories(b);
    expect((await b.values("one.md")).join("\n")).not.toContain("rule of another");
    expect((await listHeld(b.store.reader)).map(({ reason }) => reason)).toContainEqual(lines(3));
  } finally {
    await b.remove();
  }
});

test("what stands beside a stray mark is held, and is nobody's for good", async () => {
  const b = await MemoryMachine.start("ben");
  const texts = [
    `run the tests first\n${END}\n`,
    `${BEGIN}\nrun the tests first\n`,
    `${BEGIN}\nrun the tests first\n${BEGIN}\nrule of another home\n${END}\n`,
    `${BEGIN}\nrule of another home\n${END}\nrun the tests first\n${END}\n`,
  ];
  try {
    for (const [at, text] of texts.entries()) b.save(`${at}.md`, text);
    await settleMemories(b);
    const held = await listHeld(b.store.reader);
    expect(held.map(({ reason }) => reason.code)).toEqual(texts.map(() => "personal-block"));
    for (const [at] of texts.entries()) b.save(`${at}.md`, "run the tests first\n");
    b.save("own.md", "# Of all\n\nrule of another home\n");
    await settleMemories(b);
    for (const [at] of texts.entries()) {
      expect(await b.values(`${at}.md`)).toEqual(["run the tests first\n"]);
    }
    expect(await b.values("own.md")).toEqual([]);
  } finally {
    await b.remove();
  }
});

/** As another machine has sent it, where no assistant's file has it. */
async function putText(store: ReplicaStore<DaemonTables>): Promise<void> {
  await store.write(async (context) => {
    const open = await context.open(userDocument(LOCAL_ACCOUNT, LOCAL_USER));
    const value = `<!-- memsync:personal version -->\nmine alone\n`;
    open.document.setEntry("memories", PERSONAL_KEY, { value, now: 1, seen: [] });
    await context.flush(open);
  });
}

const STRIPPED = "# Of all\n\nmine alone\n";

/** What stands in the place of the held text before it is saved without its marks. */
const BETWEEN: readonly (readonly [string, (b: MemoryMachine) => Promise<void>])[] = [
  ["nothing", async () => undefined],
  ["an empty file", async (b) => b.save("one.md", "")],
  ["another file of that text, under a new name", async (b) => b.save("two.md", STRIPPED)],
  ["a save that has none of it", async (b) => b.save("one.md", "# Of all\n")],
  ["a secret beside it", async (b) => b.save("one.md", `${STRIPPED}${PLANTED.github}\n`)],
  [
    "what loses all that is held",
    async (b) => {
      const held = await listHeld(b.store.reader);
      await b.store.write(async ({ db }) => {
        for (const item of held) await dropHeld(db, item);
      });
    },
  ],
];

for (const [what, step] of BETWEEN) {
  test(`a memory with one's own lines is held without the marks, whatever came between: ${what}`, async () => {
    const b = await MemoryMachine.start("ben");
    try {
      await putText(b.store);
      b.save("one.md", `# Of all\n\n${BEGIN}\nmine alone\n${END}\n`);
      await settleMemories(b);
      await step(b);
      await settleMemories(b);
      b.save("one.md", STRIPPED);
      await settleMemories(b);
      const sent = [...(await b.values("one.md")), ...(await b.values("two.md"))].join("\n");
      expect(sent).not.toContain("mine alone");
      const held = await listHeld(b.store.reader);
      const item = held.find(({ value, shown }) => shown && value === STRIPPED);
      expect(item?.reason).toEqual(lines(3));
      await b.store.write(async ({ db }) => item && (await allowHeld(db, item)));
      await drainInbox(b.store);
      await settleMemories(b);
      expect(await b.values(item?.key.slice("auto-memory/".length) ?? "")).toEqual([STRIPPED]);
    } finally {
      await b.remove();
    }
  });
}

test("what comes from others is never held", async () => {
  const [b, c] = [await MemoryMachine.start("ben"), await MemoryMachine.start("cleo")];
  try {
    await putText(b.store);
    c.save("one.md", STRIPPED);
    await settleMemories(b, c);
    expect(await b.values("one.md")).toEqual([STRIPPED]);
    b.save("one.md", `${STRIPPED}and more of ben\n`);
    await settleMemories(b, c);
    expect(await c.values("one.md")).toEqual([`${STRIPPED}and more of ben\n`]);
    expect(await listHeld(b.store.reader)).toEqual([]);
  } finally {
    await b.remove();
    await c.remove();
  }
});

test("a comment in the midst of a line hides it not, and one that has a line shows it", async () => {
  expect(await reasonFor("- mine <!-- note -->alone\n")).toEqual(lines(1));
  expect(await reasonFor("# X\nmine <!-- of\ntwo lines --> alone\n")).toBeUndefined();
  expect(await reasonFor("<!-- a\nb -->\n- mine<!----> alone\n")).toEqual(lines(3));
  expect(await reasonFor("<!-- mine alone -->\n")).toEqual(lines(1));
  expect(await reasonFor("a <!--\nmine alone\n")).toEqual(lines(2));
});

test("a link in any of its forms in a line of one's own changes nothing about it", async () => {
  a.edit("claude", () => `- ${PASSAGE}\n- mine alone\n`);
  await settlePersonal(a);
  for (const link of LINKED) {
    const line = PASSAGE.replace("Falcon", link);
    expect([link, await reasonFor(`fine\n${line}\n`)]).toEqual([link, lines(2)]);
    expect(await reasonFor(`${PASSAGE}!\n`, { already: [line] })).toBeUndefined();
    const short = link.replace("Falcon", "mine alone");
    expect([short, await reasonFor(`fine\n- ${short}\n`)]).toEqual([short, lines(2)]);
  }
  const broken = PASSAGE.replace("never Falcon", "[never\nFalcon](https://example.com\n'a bird')");
  expect(await reasonFor(`${broken}\nfine\nmine alone\n`)).toEqual(lines(1, 2, 5));
  expect(await reasonFor(`[${PASSAGE}]: https://example.com 'a bird'\n`)).toEqual(lines(1));
});

test("what only begins like a link takes nothing out of a text", async () => {
  for (const start of ["[a](b", "[a](b 'c", "[a](<b", "(", ":) [a](b (c)", "[a][b", "[[a"]) {
    expect([start, await reasonFor(`${start}\n\nmine alone\n)'>]\n`)]).toEqual([start, lines(3)]);
    const next = `${start} [d](e)\n\n[mine](f) alone\n`;
    expect([start, await reasonFor(next)]).toEqual([start, lines(3)]);
  }
  expect(await reasonFor("mine [not](mine) alone\nmine (quite) alone\n")).toBeUndefined();
});

test("what stands in what only looks like a link hides no line of one's own", async () => {
  a.edit("claude", () => `- ${PASSAGE}\n- mine alone\n`);
  await settlePersonal(a);
  const linked = PASSAGE.replace("Falcon", "[Falcon](https://example.com/falcon)");
  const alike = PASSAGE.replace("Falcon", "F\u0430lcon");
  for (const line of [linked, alike]) {
    for (const [before, after] of [
      ["- see [docs](https://a.example/wiki_(y)", "- 1) done"],
      ["[z](", ")"],
      ["[see also](<draft", "- a > b\n- c)"],
      ['see [a](b "c', 'd" )'],
      ["[note][", "]"],
      ["call arr[0](", ")"],
    ] as const) {
      const text = `${before}\n${line}\n${after}\n`;
      expect([text, await reasonFor(text)]).toEqual([text, lines(2)]);
    }
  }
});

test.each([
  "](",
  "](<",
  "](a 'b ",
  "[",
  "[[",
  "](()",
  '"  ',
  "<a:",
  "](\\)",
  "[a]: b ",
  "[^",
  "][a",
])(
  "however often %j stands in a text, its links are read in linear time",
  (hostile) => {
    // In quadratic time it would take hours.
    expect(withoutLinks(`[a](b) ${hostile.repeat(200_000)}`)).toStartWith("[a]");
  },
  60_000,
);

test("a link or look-alike letters in a line change nothing about whose it is", async () => {
  expect(await reasonFor("answer in [verse](https://example.com/a_b 'x')\n")).toEqual(lines(1));
  expect(await reasonFor('answer [in](https://example.com "t") [verse](<a b>)\n')).toEqual(
    lines(1),
  );
  expect(await reasonFor("fine\n\nanswer ![in][1] verse\n")).toEqual(lines(3));
  expect(await reasonFor("аnѕwеr іn vеrѕе\n")).toEqual(lines(1));
  expect(await reasonFor("МINЕ АLОNЕ\n")).toEqual(lines(1));
  expect(await reasonFor("Иван\nаnѕwеr іn vеrѕе\n")).toEqual(lines(2));
  expect(await reasonFor("отвечай стихами, answer in verse\n")).toBeUndefined();
  const linked = "answer [in](https://example.com) verse\n";
  expect(await reasonFor(linked, { already: [linked] })).toBeUndefined();
  expect(await reasonFor(linked, { others: () => [`x\n${linked}`] })).toBeUndefined();
});
