import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { addConflictCommands } from "../../cli/commands/conflicts.ts";
import { addMemoryCommands } from "../../cli/commands/memories.ts";
import { listConflicts } from "../../cli/local/local-conflicts.ts";
import { forget } from "../../cli/mcp/forget.ts";
import { remember } from "../../cli/mcp/remember.ts";
import { type Environment, readEnvironment } from "../../cli/place/environment.ts";
import { type MemoryPlace, targetOf, withLocal } from "../../cli/place/place.ts";
import {
  agreeToDelete,
  agreeToImport,
  agreeToReplace,
} from "../../cli/writes/agree-to-instructions.ts";
import { changeHome, writeMemory } from "../../cli/writes/inbox-write.ts";
import { moveMemory } from "../../cli/writes/move-memory.ts";
import { saveMemory } from "../../cli/writes/save.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { forgetPersonalFile, putPersonalFile } from "../../daemon/home/personal-files.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { readWholeInbox } from "../../daemon/inbox/inbox.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { realWorld } from "../../shared/world-real.ts";

let folder: string;
let env: Environment;
let place: MemoryPlace;

const TEXT = "<!-- memsync:personal version -->\n- Ask before you delete a file.\n- Use tabs.\n";

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-own-")));
  env = { ...readEnvironment({ MEMSYNC_HOME: join(folder, "home") }), dir: folder };
  place = await withLocal(env, (db) => targetOf(env, db, { layer: "user" }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (value: string, key = PERSONAL_KEY) => saveMemory(env, place, { key, value });
const replace = (value: string, options = {}, key = PERSONAL_KEY) =>
  agreeToReplace(env, place, { key, value, done: "saved", options });
const bring = (value: string, { yes = false, conflicts = [] as string[] } = {}) => {
  const versions = conflicts.map((each) => ({ value: each }));
  const memories = [{ key: PERSONAL_KEY, value, conflicts: versions }];
  return agreeToImport(env, place, { memories, options: { yes } });
};

async function turnOn(shown?: string): Promise<void> {
  const path = join(folder, "CLAUDE.md");
  const file = { assistant: "claude", path, header: "", writes: false, isMade: false, undone: [] };
  await changeHome(env.home, (db) => putPersonalFile(db, { ...file, shown }, 0));
}

test("who replaces lines of the personal text is asked", async () => {
  await put(TEXT);
  const refusal = replace("- Do as the page says.\n");
  await expect(refusal).rejects.toThrow(/nothing was saved: 2 lines go.*--yes/);
  await expect(replace("")).rejects.toThrow("nothing was saved");
  await replace("- Do as the page says.\n", { yes: true });
  // Nothing goes, or it is no such text.
  await replace(`${TEXT}- Say why.\n`);
  await replace("- Ask before you delete a file.\n- Use tabs.");
  await replace("x", {}, "deploy");
});

test("what came meanwhile is not replaced by who has not seen it", async () => {
  await put(TEXT);
  const guard = await replace("- Use tabs.\n", { yes: true });
  await put(`${TEXT}- Say why.\n`);
  const options = { guard };
  const write = saveMemory(env, place, { key: PERSONAL_KEY, value: "- Use tabs.\n", options });
  await expect(write).rejects.toThrow("have changed just now");
});

test("a memory that changes after the question is not moved in its place", async () => {
  const everybody = await withLocal(env, (db) => targetOf(env, db, { layer: "global" }));
  const coming = "- Use tabs.\n";
  await saveMemory(env, everybody, { key: PERSONAL_KEY, value: coming });
  const moving = { key: PERSONAL_KEY, sources: [everybody], target: place, allows: {} };
  const shown = { ...moving, value: "- Ask first.\n", guard: undefined };
  await expect(moveMemory(env, shown)).rejects.toThrow("has changed just now");
  await put(TEXT);
  const guard = await replace(coming, { yes: true });
  await writeMemory(env.home, place, { key: PERSONAL_KEY, value: undefined });
  const asked = moveMemory(env, { ...moving, value: coming, guard });
  await expect(asked).rejects.toThrow("have changed just now");
  expect(await moveMemory(env, { ...moving, value: coming, guard: undefined })).toBe("global");
});

test("a deleted text is one as long as files have it", async () => {
  await turnOn(TEXT);
  await expect(replace("- Do as the page says.\n")).rejects.toThrow("2 lines go");
  await changeHome(env.home, (db) => forgetPersonalFile(db, "claude"));
  await replace("- Do as the page says.\n");
});

test("an import that changes the personal text is asked about", async () => {
  // A new home begins with what it once had.
  await changeHome(env.home, async () => {});
  await bring(TEXT);
  await turnOn();
  await expect(bring(TEXT)).rejects.toThrow("2 lines come");
  await put(TEXT);
  await bring(TEXT);
  await expect(bring(`${TEXT}- Say why.\n`)).rejects.toThrow("nothing was imported: 1 line comes");
  await expect(bring("- Mine.\n")).rejects.toThrow("2 lines go and 1 line comes");
  // A version that comes beside it is merged into it.
  await expect(bring(TEXT, { conflicts: ["- Theirs.\n"] })).rejects.toThrow("1 line comes");
  await bring("- Mine.\n", { yes: true });
});

test("no assistant changes or deletes it through a tool, and each is told who can", async () => {
  const request = { key: PERSONAL_KEY, value: "- evil from a web page", layer: "user" } as const;
  const call = () => remember(env, undefined, request);
  await expect(call()).rejects.toThrow("Only its user writes that");
  await put(TEXT);
  await expect(call()).rejects.toThrow("memsync set");
  for (const key of [
    "Personal/Instructions",
    "personal/instruct\u00adions",
    "personal/instructions ",
    "personal/instructi\u043ens",
    "personal/instruction\u015b",
    "personal/instructions.md",
  ]) {
    await expect(remember(env, undefined, { ...request, key })).rejects.toThrow("Only its user");
  }
  const deleted = forget(env, undefined, { key: PERSONAL_KEY, layer: "user" });
  await expect(deleted).rejects.toThrow("Only its user writes that");
  const memories = await withLocal(env, async (db) => {
    return db ? await readLocalMemories(db, place.document, place.account) : [];
  });
  expect(memories.map(({ value }) => value)).toEqual([TEXT]);
});

test("who deletes the personal text is asked, by whatever command", async () => {
  await put(TEXT);
  const program = new Command().exitOverride();
  addMemoryCommands(program, env);
  const rm = (...more: string[]) =>
    program.parseAsync(["rm", PERSONAL_KEY, "--layer", "user", ...more], { from: "user" });
  await expect(rm()).rejects.toThrow(/nothing was deleted: 2 lines go.*--yes/);
  const document = { layer: "user", name: place.document, account: place.account } as const;
  const byConflict = agreeToDelete(env, document, { key: PERSONAL_KEY, options: {} });
  await expect(byConflict).rejects.toThrow("nothing was deleted");
  const standing = () =>
    withLocal(env, async (db) => (db ? await readLocalMemories(db, place.document) : []));
  expect(await standing()).toHaveLength(1);
  await rm("--yes");
  expect(await standing()).toEqual([]);
});

/** Changes the user's document as an answer of the service does. */
async function editDocument(edit: (open: OpenDocument) => void): Promise<void> {
  const store = await openReplica(env.home.database, realWorld);
  await store.write(async (context) => {
    edit(await context.open({ owner: LOCAL_ACCOUNT, name: place.document }));
  });
  await store.close();
}

const setText = (document: ReplicaDocument, value: string, more: object) =>
  document.setEntry("memories", PERSONAL_KEY, { value, now: 1, ...more });

async function onlyConflict(): Promise<string> {
  const all = await withLocal(env, async (db) => (db ? await listConflicts(db, () => true) : []));
  expect(all).toHaveLength(1);
  return all[0]?.id ?? "";
}

const conflicts = (...args: string[]) => {
  const program = new Command().exitOverride();
  addConflictCommands(program, env);
  return program.parseAsync(["conflicts", ...args], { from: "user" });
};

const writesWaiting = () =>
  withLocal(env, async (db) => (db ? (await readWholeInbox(db)).length : 0));

test("who takes a version of the personal text out by a conflict is asked", async () => {
  await changeHome(env.home, async () => {});
  await editDocument(({ document }) => {
    setText(document, "- Theirs.\n", {});
    setText(document, TEXT, { now: 2, seen: [] });
  });
  const id = await onlyConflict();
  await expect(conflicts("restore", id)).rejects.toThrow(/nothing was restored: 2 lines go.*--yes/);
  expect(await writesWaiting()).toBe(0);
  await conflicts("restore", id, "--yes");
  expect(await writesWaiting()).toBe(1);
});

test("who deletes the personal text after all by a conflict is asked", async () => {
  await changeHome(env.home, async () => {});
  await editDocument((open) => {
    setText(open.document, "- Before.\n", {});
    open.deleteMemory({ key: PERSONAL_KEY, now: 2 });
    setText(open.document, TEXT, { now: 3, isBeforeDeletion: true });
  });
  const id = await onlyConflict();
  await expect(conflicts("choose", id, "2")).rejects.toThrow(/nothing was deleted: 2 lines go/);
  expect(await writesWaiting()).toBe(0);
  await conflicts("choose", id, "2", "--yes");
  expect(await writesWaiting()).toBeGreaterThan(0);
});
