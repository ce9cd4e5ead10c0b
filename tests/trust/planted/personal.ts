import { type Mistake, mistakesIn } from "./mistake.ts";

const lines = mistakesIn("daemon/held/personal-lines.ts", "unit/personal-lines.test.ts");
const noted = mistakesIn("daemon/home/personal-lines.ts", "unit/personal-lines.test.ts");
const letters = mistakesIn("daemon/home/text-line.ts", "unit/personal-lines.test.ts");
const WRITTEN = "unit/personal-lines-written.test.ts";
const judge = mistakesIn("daemon/held/judge.ts", WRITTEN);
const called = mistakesIn("daemon/gateway/withholding.ts", WRITTEN);
const FOUND = "unit/personal-found.test.ts";
const block = mistakesIn("daemon/assistants/personal/take-block.ts", FOUND);
const left = mistakesIn("daemon/files/state/follow-store.ts", FOUND);
const rows = mistakesIn("daemon/assistants/personal/personal-rows.ts", FOUND);
const keeper = mistakesIn("daemon/assistants/personal/personal-keeper.ts", FOUND);
const store = mistakesIn("daemon/home/held-store.ts", "unit/personal-lines.test.ts");
const marks = mistakesIn("daemon/home/personal-mark.ts", "unit/personal-lines.test.ts");
const OWN = "unit/own-instructions.test.ts";
const asked = mistakesIn("cli/writes/agree-to-instructions.ts", OWN);
const told = mistakesIn("cli/mcp/own-instructions.ts", OWN);

/** In what keeps a person's own text, and from others. */
export const PERSONAL: readonly Mistake[] = [
  mistakesIn("daemon/assistants/personal/personal-document.ts", "unit/personal-limits.test.ts")(
    "of two texts of one millisecond another one counts than the document's",
    "of two that were written in one millisecond the one counts that `get` shows",
    "sort((one, other) => other.entry.updated_at - one.entry.updated_at)",
    "sort((one, other) => (one.version.id < other.version.id ? -1 : 1))",
  ),
  lines(
    "a personal text whose marks an assistant left out goes to the team",
    "lines of one's own text are known without its marks, whatever signs stand before them",
    "if (own.size === 0) return undefined;",
    "if (own.size >= 0) return undefined;",
  ),
  letters(
    "what is anybody's line holds a file",
    "what anybody has holds nothing, nor what is said in other words",
    "if (saysALot(line)) return true;",
    "if (line) return true;",
  ),
  lines(
    "a line that a project has already holds what is written there",
    "what a project has already holds nothing, wherever it stands there",
    "if (other.some((reading) => reading.has(letters))) own.delete(letters);",
    "if (other.length === 0) own.delete(letters);",
  ),
  noted(
    "what somebody allows for one project goes to every other",
    "lines that somebody allows may be in that project, and in no other",
    '["personal line", document, line]',
    '["personal line", line]',
  ),
  letters(
    "a line whose letters are encoded in another way goes to the team",
    "a line of one's own text is known by its letters, however it is set",
    'text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC")',
    "text",
  ),
  judge(
    "a line that is a memory's name goes to the team",
    "a line of the personal text is held wherever it stands: a file's name",
    "return ofKey && { ...ofKey, lines: [], inKey: true };",
    "return ofKey && undefined;",
  ),
  judge(
    "who takes the secret out sends the personal lines beside it",
    "a memory with lines of the personal text is held beside a secret, and without it: set",
    "return isBoth ? { ...reason, personal: lines.lines } : (reason ?? lines);",
    "return reason ?? lines;",
  ),
  called(
    "a call without the marks brings a personal text to the team",
    "a memory with lines of the personal text is held until somebody allows them: a call",
    "return lines !== undefined || (await mayHoldSecrets(write));",
    "return await mayHoldSecrets(write);",
  ),
  block(
    "a block that was there before is read unasked",
    "a block that was there before is asked about, and is nobody's text until then",
    'if (!isTaken && file.asked === "found") return { file };',
    "",
  ),
  block(
    "what nobody was shown is taken into one's own text",
    "what came into a block after it was shown is not taken with it",
    'file.settled === "take" && isShown;',
    'file.settled === "take";',
  ),
  keeper(
    "what a project's members wrote into a block is read after an unlink",
    "what stands in a block after a project had the file is asked about",
    'if (why.code !== "personal-in-project") return file;',
    "if (why.code) return file;",
  ),
  left(
    "what a project's members wrote just before an unlink is read",
    "what a project's member wrote is asked about, also where nobody looked before unlink",
    "forgetFollowed(db: Db, dir: string): Promise<void> {\n  await askOfPersonal(db, dir);",
    "forgetFollowed(db: Db, dir: string): Promise<void> {",
  ),
  rows(
    "a look overwrites what a person decided in the midst of it",
    "what a command decides in the midst of a look is not overwritten by it",
    "known ? withChanges(current, known, file) : file",
    "known ? file : current",
  ),
  asked(
    "a command replaces what all assistants are told, unasked",
    "who replaces lines of the personal text is asked",
    "if (goes.length > 0) await",
    "if (goes.length < 0) await",
  ),
  asked(
    "a deleted text is written anew, unasked, where files have it still",
    "a deleted text is one as long as files have it",
    'files.map(({ shown = "" }) => shown)',
    'files.map(() => "")',
  ),
  asked(
    "another person's text comes into all assistants by an import",
    "an import that changes the personal text is asked about",
    "if (change.goes.length + change.comes.length === 0) continue;",
    "if (change.goes.length === 0) continue;",
  ),
  told(
    "an assistant tells all assistants what to do",
    "no assistant changes or deletes it through a tool, and each is told who can",
    "memory !== undefined && isPersonal(memory)",
    'false && isPersonal(memory ?? { key: "", value: "" })',
  ),
  store(
    "what was held between marks is forgotten with what is held",
    "what was held between marks is one's own for good, whosever it is, and whatever goes",
    "for (const text of texts) await notePersonalText(db, text);",
    "",
  ),
  marks(
    "a stray end mark makes a project's lines one's own for good",
    "what stands beside a stray mark is held, and is nobody's for good",
    "text.match(MARKED)",
    "text.match(PERSONAL_BLOCK)",
  ),
  mistakesIn("daemon/assistants/personal/known-file.ts", FOUND)(
    "a link that is led to a team's file makes its block one's own text",
    "a link that is led to another file is asked about, like a block that was there before",
    "target !== undefined && path !== target && path !== file.path",
    "target !== undefined && path === target && path !== file.path",
  ),
  mistakesIn("daemon/assistants/personal/uncut-files.ts", "unit/personal-glimpses.test.ts")(
    "a text of which a part stands over the former one is taken for one's own",
    "a text of which a part stands over the former one is nobody's, looked at",
    "isUncut(content, file.content);",
    "false;",
  ),
  mistakesIn("daemon/assistants/personal/personal-taker.ts", "unit/personal-glimpses.test.ts")(
    "a text of which a part stood over the former one between two looks is taken for one's own",
    "a text of which a part stands over the former one is nobody's, heard of",
    "former.has(block.text) || isBegun)",
    "former.has(block.text))",
  ),
];
