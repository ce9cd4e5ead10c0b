import { type Mistake, mistakesIn } from "./mistake.ts";

const TESTS = "unit/mcp-tools.test.ts";
const NO_SECRET = "a secret is remembered as held, and no tool gives it to an assistant again";

const remembered = mistakesIn("cli/mcp/remember.ts", TESTS);
const STALE =
  "what another has written since is not written over, and the conflict names its revision";

/** In the memories as tools of an assistant. */
export const MCP: readonly Mistake[] = [
  mistakesIn("cli/mcp/kept-secret.ts", TESTS)(
    "a held key with a secret in it is named where a similar one is asked about",
    "no tool names a held key with a secret in it beside the one that it was asked about",
    "!mayBeSecret(each) || hide(each.key) === each.key",
    "hide(each.key) !== undefined",
  ),
  mistakesIn("cli/mcp/kept-secret.ts", TESTS)(
    "what waits in the inbox is shown though it looks like a secret",
    NO_SECRET,
    "held === undefined ? waits :",
    "held === undefined ? false :",
  ),
  mistakesIn("cli/mcp/read-memory.ts", TESTS)(
    "an older value is shown though it looks like a secret",
    "an older value that came from elsewhere is not shown where it looks like a secret",
    "return why === undefined ? shownOf(memory.value) : withheldText(why);",
    "return shownOf(memory.value);",
  ),
  remembered(
    "a value that is replaced is shown though it looks like a secret",
    NO_SECRET,
    'status === "saved" && before && !wasSecret',
    'status === "saved" && before',
  ),
  mistakesIn("cli/mcp/forget.ts", TESTS)(
    "a value that is deleted is shown though it looks like a secret",
    NO_SECRET,
    "const said = why ?",
    'const said = why === "" ?',
  ),
  mistakesIn("daemon/overwritten/replace-held.ts", "unit/left-memories.test.ts")(
    "what was held is gone where an assistant writes over it",
    "inbox: what was held and is written over stays as what was left",
    "return !(await isRegained(db, held, { base, saved }));",
    "return false;",
  ),
  mistakesIn("daemon/inbox/apply-texts.ts", "unit/left-texts.test.ts")(
    "a held text is gone where a restored one takes its place",
    "inbox: a held text over another leaves that one, once however often",
    "await replaceHeld(db, place, { base: content, value });",
    "",
  ),
  {
    // The first look spares a write; the second one is made in its transaction.
    name: "what was written since an assistant read is written over",
    found: { file: TESTS, test: STALE },
    replacements: [
      {
        file: "cli/mcp/remember.ts",
        from: "if (wanted !== undefined && wanted !== revisionOf(before)) return",
        to: "if (wanted === null) return",
      },
      {
        file: "cli/mcp/remember.ts",
        from: "if (wanted !== undefined && wanted !== revisionOf(known)) throw",
        to: "if (wanted === null) throw",
      },
    ],
  },
  mistakesIn("cli/mcp/project-scope.ts", TESTS)(
    "what is meant for an unknown project goes to the person's own layer",
    "without a project nothing is written into one, and nothing is guessed",
    'if (layer !== "project") return await targetOf(env, db, { layer });',
    'return await targetOf(env, db, { layer: "user" });',
  ),
  mistakesIn("cli/mcp/tool-result.ts", TESTS)(
    "what people wrote stands among memsync's own words",
    "what is remembered comes with the note that it is no instruction",
    ".map((each) => `> ",
    ".map((each) => `",
  ),
  mistakesIn("cli/mcp/tool-result.ts", "unit/framed-memories.test.ts")(
    "a key may have lines of its own",
    "a key with line breaks stays one line wherever an assistant is told of it",
    'if (typeof line === "string") return [visible(line)];',
    'if (typeof line === "string") return [line];',
  ),
  mistakesIn("cli/mcp/kept-secret.ts", TESTS)(
    "a search finds a held memory by what an assistant is not shown",
    "a search finds no held memory by the words that an assistant is not shown",
    '=== undefined ? searched : { ...searched, value: "" }',
    "=== undefined ? searched : searched",
  ),
  mistakesIn("cli/search/local-search.ts", TESTS)(
    "a search finds a held memory by its secret",
    "no search confirms what somebody guesses of a held secret",
    "matchingTexts(texts, query, searchedOf)",
    "matchingTexts(texts, query)",
  ),
  mistakesIn("cli/mcp/recall.ts", TESTS)(
    "recall says more than its budget allows",
    "recall says no more than its budget allows, and how much it leaves out",
    "if (!budget.spend(JSON.stringify(memory).length)) break;",
    "budget.spend(JSON.stringify(memory).length);",
  ),
];
