import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { slugOf } from "../../../daemon/assistants/claude-code/memory-folders.ts";
import type { Session } from "../../../shared/wire/session.ts";
import type { Lab } from "../../support/lab.ts";
import { waitFor } from "../../support/wait-for.ts";
import { check } from "./check.ts";
import type { AssistantName } from "./installed.ts";
import { memsync, type Seat, session, withSeats } from "./seat.ts";
import type { Step } from "./stand-in.ts";

const PATIENCE_MS = 180_000;
const FRIDAY_ROUNDS = 4;
/** All that is remembered by a tool. */
const KEYS = ["release", "ci", "port", "offline", "moved", "side", "before"];

const remember = (key: string, value: string): Step => ({
  name: "remember",
  input: { key, value },
});
const DONE: Step = { text: "Done." };

/** Two machines of one person, and what is between them. */
interface Week {
  readonly ann: Seat;
  /** Its folder gets another name. */
  bob: Seat;
  readonly emulator: { end(): Promise<unknown>; again(): Promise<unknown> };
}

/**
 * A week of one person with two machines and two assistants: offline, online, a renamed folder, a
 * worktree, a compaction, and many sessions. Nothing is lost, doubled or told twice.
 */
export async function week(lab: Lab): Promise<void> {
  const names = ["claude", "codex"] as const;
  await withSeats(
    lab,
    async (ann, bob, emulator) => {
      const all: Week = { ann, bob, emulator };
      await monday(all);
      await tuesday(all);
      await wednesday(all);
      await thursday(all);
      await friday(all);
    },
    { names },
  );
}

/** The folder of Claude Code's auto memory of a seat's clone. */
const autoOf = ({ user, folder }: Seat) =>
  join(user.folder, ".claude", "projects", slugOf(realpathSync(folder)) ?? "", "memory");

const textAt = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
const instructionsOf = ({ folder }: Seat) => join(folder, "CLAUDE.md");
const indexOf = (seat: Seat) => join(autoOf(seat), "MEMORY.md");
const timesIn = (text: string, part: string) => text.split(part).length - 1;

function written(path: string, content: string): Step {
  mkdirSync(dirname(path), { recursive: true });
  return { name: "Write", input: { file_path: path, content } };
}

const topic = (seat: Seat, name: string, text: string) =>
  written(join(autoOf(seat), `${name}.md`), `---\nname: ${name}\n---\n\n${text}\n`);

const added = (path: string, line: string, more: string): Step[] => [
  { name: "Read", input: { file_path: path } },
  { name: "Edit", input: { file_path: path, old_string: line, new_string: `${line}${more}` } },
];

async function syncAll({ ann, bob }: Week): Promise<void> {
  for (const seat of [ann, bob, ann]) await memsync(seat, "sync");
}

const listOf = async (seat: Seat, command: string) =>
  JSON.parse(await memsync(seat, command, "--json"));

/** What a new session is told before anything is asked. */
async function toldTo(seat: Seat, name: AssistantName, prompt?: readonly string[]) {
  return (await session(seat, name, [DONE], prompt)).at(-1) ?? "";
}

function checkOnce(what: string, text: string, ...parts: readonly string[]): void {
  const wrong = parts.filter((part) => timesIn(text, part) !== 1);
  check(
    what,
    wrong.length === 0,
    `${wrong.map((part) => `${part}: ${timesIn(text, part)}`)}\n${text}`,
  );
}

async function monday(all: Week): Promise<void> {
  const { ann, bob } = all;
  for (const seat of [ann, bob]) await memsync(seat, "auto-memory", "on", "--write");
  await session(ann, "claude", [
    topic(ann, "build", "npm run build"),
    written(indexOf(ann), "# Memory\n\n- [build](build.md): how it is built\n"),
    written(instructionsOf(ann), "# Widget\n\n- no tabs\n- tests first\n"),
    remember("release", "tag first"),
    DONE,
  ]);
  await session(ann, "codex", [remember("ci", "reads the tag"), DONE]);
  await syncAll(all);
  await memsync(bob, "doc", "write");
  await waitFor("auto memory", () => existsSync(join(autoOf(bob), "build.md")), PATIENCE_MS);
  checkOnce("the other machine's index names it once", textAt(indexOf(bob)), "(build.md)");
  for (const name of ["claude", "codex"] as const) {
    const told = await toldTo(bob, name);
    checkOnce(`${name} starts with what both have remembered`, told, "tag first", "reads the tag");
  }
}

async function tuesday(all: Week): Promise<void> {
  const { ann, bob, emulator } = all;
  await emulator.end();
  const offline = (seat: Seat, name: string, after: string, port: string) =>
    session(seat, "claude", [
      ...added(instructionsOf(seat), after, `- of ${name}\n`),
      topic(seat, name, `of ${name}`),
      ...added(indexOf(seat), "how it is built\n", `- [${name}](${name}.md): of ${name}\n`),
      remember("port", port),
      DONE,
    ]);
  await Promise.all([
    offline(ann, "ann", "- tests first\n", "5433"),
    offline(bob, "bob", "- no tabs\n", "5434"),
  ]);
  await session(bob, "codex", [remember("offline", "said by codex"), DONE]);
  await emulator.again();
  await syncAll(all);
  for (const seat of [ann, bob]) {
    const lines = ["- of ann", "- of bob", "- no tabs", "- tests first"];
    const topics = ["(build.md)", "(ann.md)", "(bob.md)"];
    const isWhole = () =>
      lines.every((line) => textAt(instructionsOf(seat)).includes(line)) &&
      topics.every((name) => textAt(indexOf(seat)).includes(name));
    await waitFor("all lines", isWhole, PATIENCE_MS);
    checkOnce("no line of the instructions is doubled", textAt(instructionsOf(seat)), ...lines);
    checkOnce("no line of the index is doubled", textAt(indexOf(seat)), ...topics);
  }
  const conflicts = await listOf(ann, "conflicts");
  check("what both said of one key is the one conflict", conflicts.length === 1, conflicts);
  await memsync(ann, "conflicts", "dismiss", conflicts[0].id);
}

async function wednesday(all: Week): Promise<void> {
  const { ann } = all;
  const folder = `${all.bob.folder}-renamed`;
  renameSync(all.bob.folder, folder);
  all.bob = { ...all.bob, folder };
  const { bob } = all;
  await session(bob, "claude", [
    topic(bob, "moved", "still here"),
    remember("moved", "after the rename"),
    DONE,
  ]);
  const tree: Seat = { ...ann, folder: join(dirname(ann.folder), "tree") };
  await ann.user.run(["git", "worktree", "add", "-q", tree.folder, "-b", "side"], {
    cwd: ann.folder,
  });
  const told =
    (await session(tree, "claude", [remember("side", "of the worktree"), DONE]))[0] ?? "";
  checkOnce("a worktree's session knows the project", told, "tag first");
  await memsync(tree, "sync");
  await syncAll(all);
  checkOnce(
    "the renamed folder knows the worktree's",
    await toldTo(bob, "codex"),
    "of the worktree",
  );
  const names = ["ann.md", "bob.md", "build.md", "moved.md"];
  for (const seat of [ann, bob]) {
    const isNamed = () => names.every((name) => textAt(indexOf(seat)).includes(`(${name})`));
    await waitFor("each topic to be named", isNamed, PATIENCE_MS);
    checkOnce(
      "the index names each topic once",
      textAt(indexOf(seat)),
      ...names.map((name) => `(${name})`),
    );
    const there = readdirSync(autoOf(seat)).sort();
    check("no file is doubled", there.join() === ["MEMORY.md", ...names].join(), there);
  }
}

async function thursday({ bob }: Week): Promise<void> {
  await session(bob, "claude", [remember("before", "the compaction"), DONE]);
  const summary = { text: "<summary>We talked of herons.</summary>" };
  await session(bob, "claude", [summary, summary], ["-c", "-p", "/compact"]);
  const told = await toldTo(bob, "claude", ["-c", "-p", "Go on."]);
  checkOnce("after a compaction it is told once", told, "tag first");
  await session(bob, "claude", [], ["-c", "-p", "/clear"]);
  checkOnce("after a clearing, too", await toldTo(bob, "claude"), "tag first");
}

async function friday(all: Week): Promise<void> {
  const { ann, bob } = all;
  const said = (key: string) => [
    remember("release", "tag first"),
    remember(key, "of friday"),
    DONE,
  ];
  for (let round = 0; round < FRIDAY_ROUNDS; round++) {
    const [one, other] =
      round % 2 === 0 ? (["claude", "codex"] as const) : (["codex", "claude"] as const);
    await Promise.all([
      session(ann, one, said(`ann-${round}`)),
      session(bob, other, said(`bob-${round}`)),
    ]);
  }
  await syncAll(all);
  const rounds = Array.from({ length: FRIDAY_ROUNDS }, (_, at) => [`ann-${at}`, `bob-${at}`]);
  const keys = [...KEYS, ...rounds.flat()];
  for (const seat of [ann, bob]) {
    const list = await listOf(seat, "list");
    const found = list.map(({ key }: { readonly key: string }) => key);
    const lacks = keys.filter((key) => !found.includes(key));
    check("all that was remembered is there", lacks.length === 0, [lacks, found]);
    check("no key is twice", new Set(found).size === found.length, found);
    check("nothing is held", (await listOf(seat, "held")).length === 0);
    check("nothing is in conflict", (await listOf(seat, "conflicts")).length === 0);
    const { sessions } = (await listOf(seat, "sessions")) as {
      readonly sessions: readonly Session[];
    };
    const ids = new Set(sessions.map(({ id }) => id));
    check("each session is listed once", ids.size === sessions.length, JSON.stringify(sessions));
    const told = await toldTo(seat, "claude");
    checkOnce("a session is told each of them once", told, ...keys.map((key) => `\\n${key} · `));
  }
}
