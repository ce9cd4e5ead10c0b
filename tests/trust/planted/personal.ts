import { type Mistake, mistakesIn } from "./mistake.ts";

const lines = mistakesIn("daemon/held/personal-lines.ts", "unit/personal-lines.test.ts");
const WRITTEN = "unit/personal-lines-written.test.ts";
const written = mistakesIn("daemon/inbox/drain-inbox.ts", WRITTEN);
const doc = mistakesIn("daemon/inbox/apply-texts.ts", WRITTEN);
const called = mistakesIn("daemon/gateway/withholding.ts", WRITTEN);
const FOUND = "unit/personal-found.test.ts";
const block = mistakesIn("daemon/assistants/personal/take-block.ts", FOUND);
const left = mistakesIn("daemon/files/follow-store.ts", FOUND);
const rows = mistakesIn("daemon/assistants/personal/personal-rows.ts", FOUND);
const keeper = mistakesIn("daemon/assistants/personal/personal-keeper.ts", FOUND);

/** In what keeps a person's own text from others. */
export const PERSONAL: readonly Mistake[] = [
  lines(
    "a personal text whose marks an assistant left out goes to the team",
    "lines of a held block are known without their marks, whatever signs stand before them",
    "if (held.length === 0) return undefined;",
    "if (held.length >= 0) return undefined;",
  ),
  lines(
    "what is anybody's line holds a file",
    "lines of a held block are known without their marks, whatever signs stand before them",
    "return isOnesOwn(line) && own.has(line)",
    "return own.has(line)",
  ),
  lines(
    "a personal text goes to the team with the second save that has no marks",
    "lines of a held block are known again after each such save, until somebody allows them",
    'if (reason.code !== "personal-lines") return blocks;',
    "if (reason.code) return blocks;",
  ),
  written(
    "a memory that is written without the marks is not compared with what is held of it",
    "a memory that is held for a personal text stays held without the marks: set",
    "already: current, former });",
    "already: current });",
  ),
  doc(
    "a text that is written without the marks is not compared with what is held of a file",
    "who writes the text has read what a held file has: doc",
    "const former = await findShownText(db, placeOf(open));",
    "const former = undefined;",
  ),
  called(
    "a call without the marks brings a personal text to the team",
    "a text that is held for a personal text stays held without the marks: a call",
    "{ already: [content], former: shown }",
    "{ already: [content] }",
  ),
  block(
    "a block that was there before is read unasked",
    "a block that was there before is asked about, and is nobody's text until then",
    'if (!isTaken && file.asked === "found") return { file };',
    "",
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
];
