import { type Mistake, mistakesIn } from "./mistake.ts";

const TESTS = "unit/run-hook.test.ts";
const TOLD = "a session is told once, and again when it was cleared or compacted";
const SUMMARY =
  "a compaction's summary is kept, without secrets, and only while sessions are recorded";

const RUN = "cli/hooks/run-hook.ts";
const NOTHING_KNOWN = 'if (memories.length === 0 && sessions === undefined) return "";';
const CONTEXT = "const context = `What memsync keeps";
const run = mistakesIn(RUN, TESTS);
const START = "cli/hooks/start-session.ts";
const start = mistakesIn(START, TESTS);
const compacted = mistakesIn("cli/hooks/keep-compacted.ts", TESTS);

/** In what assistants run at the start and the end of a session. */
export const HOOKS: readonly Mistake[] = [
  start(
    "a session is told the same twice",
    TOLD,
    "if (session !== undefined && !isFirst(env.home, { session, source }, realWorld)) return",
    "if (session === null) return",
  ),
  mistakesIn("cli/hooks/once-per-session.ts", TESTS)(
    "a session that was compacted is told nothing",
    TOLD,
    '= ["clear", "compact"];',
    '= ["clear"];',
  ),
  {
    name: "a session that was told nothing counts as told",
    found: {
      file: TESTS,
      test: "nothing is said where nothing is known, and it is said once something is",
    },
    replacements: [
      { file: START, from: NOTHING_KNOWN, to: "" },
      { file: START, from: CONTEXT, to: `${NOTHING_KNOWN}\n  ${CONTEXT}` },
    ],
  },
  compacted(
    "a summary with a secret is kept",
    SUMMARY,
    'if (db && (await whyLikeSecret(db, { key: "", value })) === undefined) {',
    "if (db) {",
  ),
  compacted(
    "a summary is kept though sessions are off",
    SUMMARY,
    "|| summary === undefined || !recordsSessions(env.home)) return",
    "|| summary === undefined) return",
  ),
  run(
    "a hook that fails fails its session",
    "a hook that fails says nothing",
    "{ work: done }).catch(() => undefined);",
    "{ work: done });",
  ),
  run(
    "a hook of Codex answers nothing",
    "an unknown event, and what is no JSON, does nothing, and Codex gets JSON",
    'event === "stop" ? "{}\\n" : "";',
    'event === "" ? "{}\\n" : "";',
  ),
];
