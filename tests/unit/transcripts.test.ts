import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { claudeCodeSessions } from "../../daemon/assistants/claude-code/sessions.ts";
import { codexSessions } from "../../daemon/assistants/codex/sessions.ts";
import { geminiSessions } from "../../daemon/assistants/gemini/sessions.ts";
import { openCodeSessions } from "../../daemon/assistants/opencode/sessions.ts";
import type { TranscriptState } from "../../daemon/assistants/transcripts/read-transcript.ts";
import { titleOf } from "../../daemon/assistants/transcripts/session-facts.ts";
import type { SessionSource } from "../../daemon/assistants/transcripts/session-source.ts";

const DATA = join(import.meta.dir, "..", "data", "sessions");
const ID = "55604662-cf2a-4331-851a-ec234028f8ca";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memsync-transcripts-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A file at a path below the assistant's folder. */
function put(path: string, content: string | Uint8Array): string {
  const at = join(home, path);
  mkdirSync(join(at, ".."), { recursive: true });
  writeFileSync(at, content);
  return at;
}

const sample = (path: string): string => readFileSync(join(DATA, path), "utf8");

/** What the one transcript tells, read on from `state`. */
async function read(source: SessionSource, state?: TranscriptState): Promise<TranscriptState> {
  const [file, ...others] = await source.list();
  if (!file || others.length > 0) throw new Error(`${others.length} too many, or none`);
  return await source.read(file, state);
}

test("of a session of Claude Code times, messages, model, branch and folder are read, and nothing said", async () => {
  put(`projects/-work-spotter/${ID}.jsonl`, sample("claude-code/short.jsonl"));
  const { facts } = await read(claudeCodeSessions(home));
  expect(facts).toEqual({
    cwd: "/projects/spotter",
    branch: "master",
    model: "claude-opus-4-6",
    startedAt: Date.parse("2026-02-10T21:11:52.438Z"),
    lastActivityAt: expect.any(Number),
    messages: 2,
    message: expect.any(String),
    firstPrompt: [expect.stringMatching(/^[0-9a-f]{64}$/)],
  });
});

test("a title that is the first prompt is none, whenever each of them is read", async () => {
  const said = { type: "user", message: { content: [{ type: "text", text: "fix  the\nlogin" }] } };
  const titled = { type: "ai-title", aiTitle: "fix the login" };
  const source = claudeCodeSessions(home);
  const orders = [
    [said, titled],
    [titled, said],
  ];
  for (const lines of orders) {
    const path = put(`projects/p/${ID}.jsonl`, "");
    let state: TranscriptState | undefined;
    for (const line of lines) {
      appendFileSync(path, `${JSON.stringify(line)}\n`);
      state = await read(source, state);
    }
    expect(state && titleOf(state.facts)).toBeUndefined();
    const whole = await read(source);
    expect(titleOf(whole.facts)).toBeUndefined();
    const renamed = { type: "ai-title", aiTitle: "Fix the login form" };
    appendFileSync(path, `${JSON.stringify(renamed)}\n`);
    expect(titleOf((await read(source, whole)).facts)).toBe("Fix the login form");
  }
});

test("the title of a session is the user's, else the assistant's own, else a summary", async () => {
  const path = put(`projects/p/${ID}.jsonl`, sample("claude-code/short.jsonl"));
  const source = claudeCodeSessions(home);
  let state = await read(source);
  const titleAfter = async (line: object) => {
    appendFileSync(path, `${JSON.stringify(line)}\n`);
    state = await read(source, state);
    return titleOf(state.facts);
  };
  expect(titleOf(state.facts)).toBeUndefined();
  expect(await titleAfter({ type: "last-prompt", lastPrompt: "the pin is 4711" })).toBeUndefined();
  expect(await titleAfter({ type: "summary", summary: "Old form" })).toBe("Old form");
  expect(await titleAfter({ type: "ai-title", aiTitle: "Fix the map" })).toBe("Fix the map");
  expect(await titleAfter({ type: "custom-title", customTitle: "Map" })).toBe("Map");
  expect(await titleAfter({ type: "custom-title", customTitle: "" })).toBe("Fix the map");
});

test("read in pieces, as it grows, a transcript tells what it tells at once", async () => {
  const text = sample("claude-code/tool-heavy.jsonl");
  const path = put(`projects/p/${ID}.jsonl`, "");
  const source = claudeCodeSessions(home);
  let state: TranscriptState | undefined;
  for (let at = 0; at < text.length; at += 977) {
    appendFileSync(path, text.slice(at, at + 977));
    state = await read(source, state);
  }
  expect(state?.facts).toEqual((await read(source)).facts);
  expect(state?.offset).toBe(Buffer.byteLength(text));
});

test("a transcript that was cut off or written anew is read from its beginning", async () => {
  const path = put(`projects/p/${ID}.jsonl`, sample("claude-code/tool-heavy.jsonl"));
  const source = claudeCodeSessions(home);
  const before = await read(source);
  truncateSync(path, 0);
  expect((await read(source, before)).facts).toEqual({ messages: 0 });
  writeFileSync(path, `${sample("claude-code/short.jsonl")}${" ".repeat(before.size)}\n`);
  expect((await read(source, before)).facts.messages).toBe(2);
});

test("a transcript that was written anew with the same beginning is read from that", async () => {
  const text = sample("claude-code/tool-heavy.jsonl");
  const path = put(`projects/p/${ID}.jsonl`, text);
  const source = claudeCodeSessions(home);
  const before = await read(source);
  const beginning = text.slice(0, text.indexOf("\n", 2000) + 1);
  writeFileSync(path, `${beginning}${" ".repeat(before.size)}\n`);
  const anew = await read(source, before);
  expect(anew.facts).toEqual((await read(source)).facts);
  expect(anew.facts).not.toEqual(before.facts);
});

test("lines that are no JSON, half a line and one that is too long are left out", async () => {
  const long = JSON.stringify({ type: "user", message: { content: "x".repeat(17 * 1024 * 1024) } });
  const half = '{"type":"custom-title","customTi';
  const text = sample("claude-code/short.jsonl");
  const path = put(`projects/p/${ID}.jsonl`, `not json\n[1]\n${long}\n${text}${half}`);
  const source = claudeCodeSessions(home);
  const state = await read(source);
  expect(state.facts.messages).toBe(2);
  appendFileSync(path, 'tle":"Whole"}\n');
  expect(titleOf((await read(source, state)).facts)).toBe("Whole");
});

test("a sub-agent's transcript is no session", async () => {
  put("projects/p/agent-1a2b3c.jsonl", sample("claude-code/short.jsonl"));
  expect(await claudeCodeSessions(home).list()).toEqual([]);
  const aside = sample("claude-code/short.jsonl").replaceAll(
    '"isSidechain":false',
    '"isSidechain":true',
  );
  put(`projects/p/${ID}.jsonl`, aside);
  expect((await read(claudeCodeSessions(home))).facts).toMatchObject({ isPart: true });
});

const CODEX = {
  id: "0199a213-81c0-7800-8aa1-bbab2a035a53",
  cwd: "/projects/shop",
  branch: "main",
  model: "gpt-5.4-codex",
  messages: 2,
  startedAt: Date.parse("2026-09-01T08:00:00.000Z"),
  lastActivityAt: Date.parse("2026-09-01T08:01:41.000Z"),
};

test("a session of Codex, also compressed and archived; a plain file counts before", async () => {
  const day = "sessions/2026/09/01/rollout-2026-09-01T08-00-00-0199a213.jsonl";
  put(`${day}.zst`, zstdCompressSync(Buffer.from(sample("codex/rollout.jsonl"))));
  const source = codexSessions(home);
  expect((await read(source)).facts).toMatchObject(CODEX);
  put(day, sample("codex/rollout.jsonl"));
  expect((await source.list()).map(({ form }) => form)).toEqual(["lines"]);
  expect(titleOf((await read(source)).facts)).toBe("Login timeout");
  rmSync(join(home, "sessions"), { recursive: true });
  put("archived_sessions/rollout-a.jsonl", sample("codex/rollout.jsonl"));
  expect((await read(source)).facts).toMatchObject(CODEX);
});

test("Codex' index has the newest name of a session", async () => {
  put(
    "session_index.jsonl",
    '{"id":"a","thread_name":"One"}\nhalf\n{"id":"a","thread_name":"Two"}\n',
  );
  expect([...((await codexSessions(home).titles?.()) ?? [])]).toEqual([["a", "Two"]]);
});

test("a session of Gemini, of either form, in the folder that its place tells", async () => {
  put("tmp/shop/.project_root", "/projects/shop\n");
  copyFileSync(join(DATA, "gemini/session.jsonl"), put("tmp/shop/chats/session-1.jsonl", ""));
  const source = geminiSessions(home);
  expect(await source.list()).toMatchObject([{ cwd: "/projects/shop", form: "lines" }]);
  expect((await read(source)).facts).toMatchObject({
    id: "5b0c3f0e-8d11-4a58-9a57-0d3a52f0a9ce",
    messages: 2,
    model: "gemini-3-pro",
    title: { summary: "Rename a field" },
    lastActivityAt: Date.parse("2026-09-02T10:02:00.000Z"),
  });
  rmSync(join(home, "tmp"), { recursive: true });
  put("projects.json", '{"projects":{"/projects/cart":"cart"}}');
  put("tmp/cart/chats/session-2.json", sample("gemini/session.json"));
  expect(await source.list()).toMatchObject([{ cwd: "/projects/cart", form: "json" }]);
  expect((await read(source)).facts).toMatchObject({ messages: 2, title: { summary: "Greeting" } });
});

/** OpenCode's database, as the program itself made it, and what is to be changed in it. */
function openCode(...changes: readonly string[]): SessionSource {
  put("opencode.db", "");
  const db = new Database(join(home, "opencode.db"), { readwrite: true });
  for (const each of ["PRAGMA journal_mode = WAL", sample("opencode/opencode.sql"), ...changes]) {
    db.exec(each);
  }
  db.close();
  return openCodeSessions({ dataDir: home, database: undefined });
}

const OPEN_CODE = "ses_df2d036cfffeGetcLuCGmVTE4P";
const titled = (title: string) => `UPDATE session SET title = '${title}'`;

test("a session of OpenCode: a row of its database, which stays as it is", async () => {
  const source = openCode();
  const before = readFileSync(join(home, "opencode.db"));
  expect(await source.list()).toMatchObject([{ id: OPEN_CODE, size: 3, cwd: "/projects/shop" }]);
  expect((await read(source)).facts).toEqual({
    id: OPEN_CODE,
    cwd: "/projects/shop",
    model: "played",
    title: { own: "A title" },
    startedAt: 1795517565233,
    lastActivityAt: 1795517570460,
    messages: 3,
  });
  expect(readFileSync(join(home, "opencode.db"))).toEqual(before);
});

test("a title of OpenCode's that is a prompt, or stands for none, is none", async () => {
  const source = openCode();
  const titleAfter = async (title: string) => {
    const db = new Database(join(home, "opencode.db"));
    db.exec(titled(title));
    db.close();
    return titleOf((await read(source)).facts);
  };
  expect(await titleAfter("Read the file")).toBe("Read the file");
  for (const cut of ["...", "\uFFFD...", " ...", "... (fork #1)", "... (fork #1) (fork #2)", ""]) {
    expect(await titleAfter(`"Do what is to be${cut}`)).toBeUndefined();
  }
  expect(await titleAfter("New session - 2026-09-01T08:00:00.000Z")).toBeUndefined();
  expect(await titleAfter(" ")).toBeUndefined();
});

test("no title of a recorded session is what somebody said in it", async () => {
  const recorded = {
    "claude-code/short.jsonl": [`projects/p/${ID}.jsonl`, claudeCodeSessions],
    "claude-code/tool-heavy.jsonl": [`projects/p/${ID}.jsonl`, claudeCodeSessions],
    "codex/rollout.jsonl": ["sessions/2026/02/10/rollout-a.jsonl", codexSessions],
    "gemini/session.json": ["tmp/shop/chats/session-a.json", geminiSessions],
    "gemini/session.jsonl": ["tmp/shop/chats/session-a.jsonl", geminiSessions],
  } as const;
  for (const [name, [path, sessions]] of Object.entries(recorded)) {
    if (path.startsWith("tmp/")) put("tmp/shop/.project_root", "/projects/shop\n");
    const text = sample(name);
    put(path, text);
    const title = titleOf((await read(sessions(home))).facts);
    rmSync(join(home, path.split("/")[0] ?? ""), { recursive: true });
    const given = /"(?:summary|thread_name|aiTitle|customTitle)": ?"(.*?)"/g;
    const titles = [...text.matchAll(given)].map(([, said]) => said);
    expect([undefined, ...titles]).toContain(title);
  }
});

test("of OpenCode's sessions a sub-agent's is none, and an archived one has ended", async () => {
  const archived = await read(openCode("UPDATE session SET time_archived = 1795517580000"));
  expect(archived.facts).toMatchObject({ endedAt: 1795517580000 });
  rmSync(join(home, "opencode.db"));
  const child = await read(openCode("UPDATE session SET parent_id = 'ses_1'"));
  expect(child.facts).toMatchObject({ isPart: true });
});

test("what OpenCode wrote about a compaction, and what is no JSON, is no message", async () => {
  const row = (id: string, data: string) =>
    `INSERT INTO message VALUES ('${id}', '${OPEN_CODE}', 1, 1, '${data}')`;
  const more = [row("a", '{"role":"assistant","summary":true}'), row("b", '{"role":')];
  expect((await read(openCode(...more))).facts.messages).toBe(3);
});

test("a database of OpenCode's is opened again only once it was written", async () => {
  const source = openCode();
  const [first] = await source.list();
  expect((await source.list())[0] === first).toBeTrue();
  const db = new Database(join(home, "opencode.db"));
  db.exec(titled("Another"));
  expect(await source.list()).not.toEqual(first ? [first] : []);
  db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE session SET title = 'x'");
  db.exec("COMMIT; BEGIN EXCLUSIVE");
  await expect(source.list()).rejects.toThrow();
  db.close();
  expect(await source.list()).toMatchObject([{ id: OPEN_CODE }]);
});

test("OpenCode's other channels have databases of their own, and so may a user", async () => {
  openCode();
  copyFileSync(join(home, "opencode.db"), join(home, "opencode-dev.db"));
  copyFileSync(join(home, "opencode.db"), join(home, "own.sqlite"));
  const source = openCodeSessions({ dataDir: home, database: "own.sqlite" });
  expect((await source.list()).map(({ path }) => path.slice(home.length + 1)).sort()).toEqual(
    ["opencode-dev.db", "opencode.db", "own.sqlite"].map((name) => `${name}#${OPEN_CODE}`),
  );
});

test("an assistant that is not there has no sessions", async () => {
  const openCode = openCodeSessions({ dataDir: home, database: undefined });
  for (const source of [
    claudeCodeSessions(home),
    codexSessions(home),
    geminiSessions(home),
    openCode,
  ]) {
    expect(await source.list()).toEqual([]);
  }
});
