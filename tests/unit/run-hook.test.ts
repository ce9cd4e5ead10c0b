import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePayload } from "../../cli/hooks/hook-payload.ts";
import { readInput } from "../../cli/hooks/read-input.ts";
import { runHook } from "../../cli/hooks/run-hook.ts";
import { remember } from "../../cli/mcp/remember.ts";
import { type Environment, readEnvironment } from "../../cli/place/environment.ts";
import { findSummary } from "../../daemon/home/session-summaries.ts";
import { switchSessions } from "../../daemon/home/session-switch.ts";
import { parseSessionId } from "../../shared/ids.ts";
import { PLANTED } from "../support/planted-secrets.ts";

let folder: string;
let env: Environment;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-hook-")));
  // A machine that tests beside others may take longer than a session would wait.
  const variables = { MEMSYNC_HOME: join(folder, "home"), MEMSYNC_HOOK_MS: "100000" };
  env = { ...readEnvironment(variables), dir: folder };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const save = (value: string) => remember(env, undefined, { key: "build", value, layer: "user" });
const hook = (event: string, payload: object) =>
  runHook(env, event, JSON.stringify({ session_id: "1", cwd: folder, ...payload }));
const start = (payload: object = {}) => hook("session-start", payload);

/** An input that is never closed. */
function keptOpen(...parts: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
    },
  });
}

test("an input that stays open is waited for until its object is whole, or it is too late", async () => {
  const text = '{"session_id":"1","cwd":"/a}"}\n';
  expect(await readInput(keptOpen(text), 600_000)).toBe(text);
  expect(await readInput(keptOpen(text.slice(0, 28), text.slice(28)), 600_000)).toBe(text);
  expect(await readInput(keptOpen('{"cwd":"/a}'), 20)).toBe('{"cwd":"/a}');
});

test("a session is told once, and again when it was cleared or compacted", async () => {
  await save("npm run build");
  const told = await start({ source: "startup" });
  expect(told).toContain("npm run build");
  expect(await start({ source: "startup" })).toBe("");
  expect(await start({ source: "resume" })).toBe("");
  expect(await start({ source: "compact" })).toBe(told);
  expect(await start({ source: "clear" })).toBe(told);
  expect(await start({ session_id: "2", source: "resume" })).toBe(told);
});

test("nothing is said where nothing is known, and it is said once something is", async () => {
  expect(await start()).toBe("");
  await save("npm run build");
  expect(await start()).toContain("npm run build");
});

test("what came too late for a session to wait is told the next time", async () => {
  await save("npm run build");
  const late = { ...env, variables: { ...env.variables, MEMSYNC_HOOK_MS: "0.001" } };
  const payload = JSON.stringify({ session_id: "1", cwd: folder });
  const first = await runHook(late, "session-start", payload);
  const second = await start();
  expect([first, second].filter((each) => each.includes("npm run build"))).toHaveLength(1);
});

test("what a session is told has no secret", async () => {
  await save(`npm run build, with ${PLANTED.github}`);
  const told = await start();
  expect(told).toContain("not shown");
  expect(told).not.toContain(PLANTED.github);
});

test("an unknown event, and what is no JSON, does nothing, and Codex gets JSON", async () => {
  await save("npm run build");
  expect(await hook("before-tea", {})).toBe("");
  expect(await runHook(env, "session-start", "{")).toBe("");
  // It would be looked for in each folder above.
  const cwd = "/a".repeat(50_000);
  expect(await runHook(env, "session-start", JSON.stringify({ cwd }))).toBe("");
  expect(await hook("stop", {})).toBe("{}\n");
  expect(await runHook(env, "stop", "")).toBe("{}\n");
  expect(await hook("session-end", {})).toBe("");
});

test("a hook that fails says nothing", async () => {
  await save("npm run build");
  writeFileSync(env.home.hooks, "a file where its folder belongs");
  expect(await start()).toBe("");
});

test("a compaction's summary is kept, without secrets, and only while sessions are recorded", async () => {
  const id = parseSessionId("sess_1");
  if (id === undefined) throw new Error("it is an id");
  const compact = (summary: string) => hook("post-compact", { compact_summary: summary });
  await save("npm run build");
  await compact(`We used ${PLANTED.github}.`);
  expect(findSummary(env.home, id)).toBeUndefined();
  await compact("We mended the login.");
  expect(findSummary(env.home, id)).toBe("We mended the login.");
  switchSessions(env.home, false, 0);
  await compact("We mended the logout.");
  expect(findSummary(env.home, id)).not.toBe("We mended the logout.");
});

test("a folder that a hook names without its beginning is the one below where it runs", () => {
  const folder = join(process.cwd(), "any/folder");
  expect(parsePayload(JSON.stringify({ cwd: "any/folder" }))?.folder).toBe(folder);
  expect(parsePayload(JSON.stringify({ cwd: folder }))?.folder).toBe(folder);
});
