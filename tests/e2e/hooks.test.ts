import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { ON_PLAIN_SERVICE } from "../support/plain-service.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const DATA = join(import.meta.dir, "..", "data");
const TRANSCRIPT = join(DATA, "sessions", "claude-code", "tool-heavy.jsonl");
const SESSION = "d6e0bada-1959-4eec-a9d2-0bfade768d8f";

/** What an assistant sends at the start of a session; of `assistant-end`, at its end. */
function payloadOf(assistant: string, machine: Machine, session = assistant): string {
  return readFileSync(join(DATA, "hooks", `${assistant}.json`), "utf8")
    .replaceAll("FOLDER", machine.folder)
    .replaceAll("HOME", dirname(machine.folder))
    .replaceAll("SESSION", session);
}

/** A machine that tests beside others may take longer than a session would wait. */
const env = { MEMSYNC_HOOK_MS: "100000" };

async function hook(machine: Machine, event: string, stdin: string): Promise<string> {
  const { status, stdout } = await machine.run(["hook", event], { stdin, cwd: "/", env });
  expect(status).toBe(0);
  return stdout;
}

interface StartAnswer {
  readonly hookSpecificOutput: {
    readonly hookEventName: string;
    readonly additionalContext: string;
  };
  readonly additional_context?: string;
}

async function oneMachine(lab: Lab, name: string): Promise<Machine> {
  const folder = await lab.git.repository("widget", { "README.md": "" });
  return lab.machine("a", folder, emulator.account(name));
}

scenario("every assistant's session is told once what is known, in its own form", async (lab) => {
  const machine = await oneMachine(lab, "hooks-start");
  await machine.up();
  await machine.memsync("set", "build", "npm run build, never make");
  await machine.memsync("set", "deploy", `walrus ${PLANTED.github}`);
  for (const assistant of ["claude-code", "codex", "gemini", "vscode", "cursor"]) {
    const payload = payloadOf(assistant, machine);
    const answer = JSON.parse(await hook(machine, "session-start", payload)) as StartAnswer;
    const { hookEventName, additionalContext: context } = answer.hookSpecificOutput;
    expect(hookEventName).toBe("SessionStart");
    expect(context).toContain("> npm run build, never make");
    expect(context).toContain("Project widget");
    expect(context).not.toContain(PLANTED.github);
    const isCursor = assistant === "cursor";
    expect(answer.additional_context).toBe(isCursor ? context : undefined);
    expect(await hook(machine, "session-start", payload)).toBe("");
  }
  const { session_id, ...rest } = JSON.parse(payloadOf("claude-code", machine));
  const compacted = JSON.stringify({ session_id, ...rest, source: "compact" });
  expect(await hook(machine, "session-start", compacted)).toContain("npm run build");
  expect(await hook(machine, "session-start", compacted)).toBe("");
});

scenario("what is told at the start of a session has a limit, and needs no daemon", async (lab) => {
  const machine = await oneMachine(lab, "hooks-limit");
  await machine.up();
  await machine.down();
  for (let at = 0; at < 40; at++) {
    await machine.memsync("set", `key-${at}`, `${"many words and more of them ".repeat(60)}${at}`);
  }
  const payload = payloadOf("claude-code", machine);
  const answer = JSON.parse(await hook(machine, "session-start", payload)) as StartAnswer;
  const { additionalContext: context } = answer.hookSpecificOutput;
  expect(context.length).toBeGreaterThan(4000);
  expect(context.length).toBeLessThanOrEqual(8000);
});

scenario("a hook says nothing where nothing is known, and never fails", async (lab) => {
  const machine = await oneMachine(lab, "hooks-silent");
  const payload = payloadOf("claude-code", machine);
  expect(await hook(machine, "session-start", payload)).toBe("");
  await machine.up();
  expect(await hook(machine, "session-start", payload)).toBe("");
  for (const [event, input, printed] of [
    ["session-start", "", ""],
    ["session-start", "nonsense", ""],
    ["session-start", "[]", ""],
    ["session-start", '{"cwd":7,"session_id":{}}', ""],
    ["post-compact", "{}", ""],
    ["pre-compact", payload, ""],
    ["of-another-version", payload, ""],
    ["stop", payload, "{}\n"],
    ["stop", "nonsense", "{}\n"],
    ["session-end", payload, ""],
  ] as const) {
    expect([event, input, await hook(machine, event, input)]).toEqual([event, input, printed]);
  }
  for (const args of [["hook"], ["hook", "stop", "--assistant", "x", "more"]]) {
    expect((await machine.run(args, { stdin: payload })).status).toBe(0);
  }
  const wrong = { MEMSYNC_HOME: "relative" };
  const { status } = await machine.run(["hook", "session-start"], { stdin: payload, env: wrong });
  expect(status).toBe(0);
});

scenario("the next session knows what the last one was about", async (lab) => {
  const machine = await oneMachine(lab, "hooks-summary");
  await machine.up();
  const ended = payloadOf("claude-code-end", machine, SESSION);
  const { source: _, ...payload } = JSON.parse(payloadOf("claude-code", machine, SESSION));
  const { transcript_path: path } = payload;
  expect(JSON.parse(ended).transcript_path).toBe(path);
  expect(path).toStartWith(join(lab.git.folder, ".claude", "projects"));
  mkdirSync(dirname(path), { recursive: true });
  const text = readFileSync(TRANSCRIPT, "utf8").replaceAll("/projects/spotter", machine.folder);
  writeFileSync(path, text);
  const compact = (summary: string) =>
    hook(machine, "post-compact", JSON.stringify({ ...payload, compact_summary: summary }));
  await compact("The login was moved to the server.");
  // One with a secret is not kept, and the one before stays.
  await compact(`The token is ${PLANTED.github}.`);
  const next = payloadOf("claude-code", machine, "the-next");
  await waitFor("the session to be told of", async () => {
    await hook(machine, "session-end", ended);
    return (await hook(machine, "session-start", next)).includes(
      "> The login was moved to the server.",
    );
  });
  if (ON_PLAIN_SERVICE) return;
  await waitFor("its end on the service", async () => {
    const [session] = JSON.parse(await machine.memsync("sessions", "--json")).sessions;
    return session?.ended_at !== null && session.ended_at > session.last_activity_at;
  });
});
