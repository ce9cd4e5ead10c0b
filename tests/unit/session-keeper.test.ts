import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeCodeSessions } from "../../daemon/assistants/claude-code/sessions.ts";
import { SessionKeeper } from "../../daemon/assistants/sessions/session-keeper.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import { noteSentSessions, unsentSessions } from "../../daemon/home/session-records.ts";
import {
  type OffPeriod,
  sessionSwitchOf,
  switchSessions,
} from "../../daemon/home/session-switch.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";

const SAMPLE = readFileSync(
  join(import.meta.dir, "..", "data", "sessions", "claude-code", "short.jsonl"),
  "utf8",
);
const SHOP = projectId("shop");
const MINUTE_MS = 60_000;
/** Long after the sample's session. */
const NEW_YEAR = Date.parse("2027-01-01T00:00:00Z");

let folder: string;
let world: DrivenWorld;
let store: ReplicaStore<DaemonTables>;
let keeper: SessionKeeper;
let links: Link[];
let due: ProjectId[];
let isOn: boolean;
let off: OffPeriod | undefined;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-sessions-")));
  world = createDrivenWorld();
  world.setClockBy(NEW_YEAR - world.now());
  store = await openReplica(":memory:", world);
  links = [linkTo(folder, SHOP)];
  due = [];
  isOn = true;
  off = undefined;
  keeper = await begin();
});
afterEach(async () => {
  await keeper.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function linkTo(dir: string, project: ProjectId): Link {
  return { dir, projectId: project, name: project, write: false };
}

async function begin(): Promise<SessionKeeper> {
  const begun = new SessionKeeper({
    store,
    world,
    log: silentLog,
    git: createGit(),
    sources: [claudeCodeSessions(join(folder, ".claude"))],
    machine: () => "anna",
    links: () => links,
    accountOf: () => LOCAL_ACCOUNT,
    isOn: () => isOn,
    offPeriod: () => off,
    onOffPeriodSeen: () => {
      off = undefined;
    },
    onDue: (project) => due.push(project),
  });
  await begun.start();
  await begun.look();
  return begun;
}

/** A transcript of a session in `cwd`; returns its path. */
function transcript(id: string, cwd: string, more = ""): string {
  const at = join(folder, ".claude", "projects", "any-name");
  mkdirSync(at, { recursive: true });
  const path = join(at, `${id}.jsonl`);
  const text = SAMPLE.replaceAll("/projects/spotter", cwd);
  writeFileSync(path, `${text}${more}`);
  return path;
}

const titled = (title: string) =>
  `${JSON.stringify({ type: "custom-title", customTitle: title })}\n`;
const unsent = async () =>
  (await unsentSessions(store.reader, LOCAL_ACCOUNT, SHOP)).map(({ upload }) => upload);

const unsentOf = () => unsentSessions(store.reader, LOCAL_ACCOUNT, SHOP);

test("a session in a linked folder, or below it, has a record without a word of what was said", async () => {
  transcript("one", join(folder, "packages", "web"), titled("Start the server"));
  await keeper.look();
  const [record, ...others] = await unsent();
  expect(others).toEqual([]);
  const { id, ...rest } = record ?? {};
  expect(`${id}`).toBe("sess_one");
  expect(rest).toEqual({
    title: "Start the server",
    source: "claude-code",
    started_at: "2026-02-10T21:11:52.438Z",
    last_activity_at: "2026-02-10T21:16:12.381Z",
    ended_at: null,
    message_count: 2,
    model: "claude-opus-4-6",
    git_branch: "master",
    machine: "anna",
  });
  const rows = JSON.stringify(await store.reader.selectFrom("transcripts").selectAll().execute());
  expect(rows).not.toContain("phx.server");
});

test("a title goes on one line, without control characters, and cut to what a service takes", async () => {
  transcript("one", folder, titled("nul \u0000 and\u001b[2J\r\n more"));
  transcript("two", folder, titled("ü".repeat(5000)));
  await keeper.look();
  const [one, two] = (await unsent()).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(one?.title).toBe("nul and [2J more");
  expect(two?.title).toBe(`${"ü".repeat(999)}…`);
});

test("one elsewhere has none, until its folder is linked", async () => {
  transcript("one", "/nowhere/else");
  await keeper.look();
  expect(await unsent()).toEqual([]);
  links = [...links, linkTo("/nowhere", SHOP)];
  await keeper.look();
  expect(await unsent()).toMatchObject([{ id: "sess_one" }]);
});

test("what goes on in a folder that was unlinked is not recorded, and its record stays", async () => {
  const path = transcript("one", folder, titled("Before"));
  await keeper.look();
  links = [];
  appendFileSync(path, titled("After"));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ title: "Before" }]);
  links = [linkTo(folder, SHOP)];
  await keeper.look();
  expect(await unsent()).toMatchObject([{ title: "After" }]);
});

const ignore = (text: string) => writeFileSync(join(folder, ".memsyncignore"), text);
const recorded = async () =>
  (await store.reader.selectFrom("sessions").select("id").orderBy("id").execute()).map(
    ({ id }) => `${id}`,
  );

test("a session in a folder that .memsyncignore names has no record", async () => {
  ignore("packages/secret\n");
  transcript("one", join(folder, "packages", "secret", "deep"));
  transcript("two", join(folder, "packages", "open"));
  await keeper.look();
  expect(await recorded()).toEqual(["sess_two"]);
  ignore("");
  await keeper.look();
  expect(await recorded()).toEqual(["sess_one", "sess_two"]);
});

test("a record that was not sent is taken back before the next call, and one that was stays", async () => {
  const sent = transcript("one", folder, titled("Sent"));
  await keeper.look();
  await noteSentSessions(store.reader, LOCAL_ACCOUNT, await unsentOf());
  appendFileSync(sent, titled("Not sent"));
  transcript("two", join(folder, "packages"));
  await keeper.look();
  expect(await unsent()).toHaveLength(2);
  ignore("sessions/\n");
  await keeper.heedIgnored();
  expect(await unsent()).toEqual([]);
  expect(await recorded()).toEqual(["sess_one"]);
  appendFileSync(sent, titled("Nor this"));
  await keeper.look();
  expect(await unsent()).toEqual([]);
  rmSync(join(folder, ".memsyncignore"));
  await keeper.look();
  expect(await unsent()).toEqual([]);
  ignore("# nothing\n");
  await keeper.heedIgnored();
  expect(await unsent()).toMatchObject([{ id: "sess_two" }, { title: "Nor this" }]);
});

test("a worktree's session of an ignored folder has no record either", async () => {
  const git = createGitSandbox();
  const dir = await git.repository("shop", { "README.md": "", "own/README.md": "" });
  await git.run(dir, "worktree", "add", "-q", git.path("hotfix"));
  writeFileSync(join(dir, ".memsyncignore"), "own/\n");
  links = [linkTo(realpathSync(dir), SHOP)];
  transcript("one", join(git.path("hotfix"), "own"));
  transcript("two", git.path("hotfix"));
  await keeper.look();
  expect(await recorded()).toEqual(["sess_two"]);
  git.remove();
});

test("a worktree's session belongs to the project of the repository", async () => {
  const git = createGitSandbox();
  const dir = await git.repository("shop", { "README.md": "" });
  await git.run(dir, "worktree", "add", "-q", git.path("hotfix"));
  links = [linkTo(realpathSync(dir), SHOP)];
  transcript("one", git.path("hotfix"));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ id: "sess_one" }]);
  git.remove();
});

test("a submodule's session belongs to the project of its repository, if that is linked", async () => {
  const git = createGitSandbox();
  const dir = await git.repository("shop", {});
  const part = await git.repository("part", {});
  await git.run(part, "remote", "add", "origin", part);
  const add = ["submodule", "add", "-q", part, "part"];
  await git.run(dir, "-c", "protocol.file.allow=always", ...add);
  links = [linkTo(realpathSync(dir), SHOP)];
  transcript("one", join(dir, "part"));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ id: "sess_one" }]);
  const named = await identifyProject(createGit(), part);
  if (named.kind === "none") throw new Error("it has an origin");
  links = [...links, linkTo(realpathSync(part), named.projectId)];
  transcript("two", join(dir, "part"));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ id: "sess_one" }]);
  const records = await unsentSessions(store.reader, LOCAL_ACCOUNT, named.projectId);
  expect(records.map(({ upload }) => `${upload.id}`)).toEqual(["sess_two"]);
  git.remove();
});

test("a record stays when its transcript goes, also over a restart", async () => {
  const path = transcript("one", folder, titled("Before"));
  await keeper.look();
  await keeper.stop();
  rmSync(path);
  keeper = await begin();
  expect(await unsent()).toMatchObject([{ title: "Before" }]);
});

test("after a restart only what was appended is read", async () => {
  const path = transcript("one", folder);
  await keeper.look();
  await keeper.stop();
  const { size } = await Bun.file(path).stat();
  appendFileSync(path, titled("After"));
  keeper = await begin();
  expect(await unsent()).toMatchObject([{ title: "After", message_count: 2 }]);
  const [row] = await store.reader.selectFrom("transcripts").select("state").execute();
  expect(JSON.parse(row?.state ?? "")).toMatchObject({ offset: size + titled("After").length });
});

test("a title or a model that looks like a secret is left out, and the rest recorded", async () => {
  const path = transcript("one", folder, titled(`use ${PLANTED.github}`));
  const model = `"model":"claude-${PLANTED.github}"`;
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"model":\s*"[^"]*"/g, model));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ title: null, model: null, message_count: 2 }]);
});

test("a title that is a line of the personal text is left out", async () => {
  const value = "<!-- memsync:personal version -->\n- never mention Falcon\n";
  await store.write(({ db }) => keepPersonalVersion(db, { id: "abcdefghij", value, isOwn: true }));
  transcript("one", folder, titled("Never mention “Falcon”!"));
  await keeper.look();
  expect(await unsent()).toMatchObject([{ title: null, message_count: 2 }]);
});

test("an old session is to be sent at once, one that goes on when it rests or after ten minutes", async () => {
  transcript("old", folder);
  await keeper.look();
  expect(due).toEqual([SHOP]);
  await sent();
  due = [];
  const path = transcript("new", folder);
  const goOn = async () => {
    appendFileSync(path, said());
    await keeper.look();
  };
  for (let minute = 0; minute < 10; minute += 1) {
    await goOn();
    expect(due).toEqual([]);
    world.advance(MINUTE_MS - 1);
  }
  world.advance(10);
  await goOn();
  expect(due).toEqual([SHOP]);
  await sent();
  due = [];
  await goOn();
  expect(due).toEqual([]);
  world.advance(MINUTE_MS);
  await keeper.look();
  expect(due).toEqual([SHOP]);
  await sent();
  await keeper.look();
  expect(due).toEqual([SHOP]);
});

test("a session that its assistant ended is to be sent at once, also while it is being read", async () => {
  await keeper.look();
  const path = transcript("one", folder, said());
  await keeper.look();
  expect(due).toEqual([]);
  appendFileSync(path, said());
  const looking = keeper.look();
  appendFileSync(path, said());
  await Promise.all([looking, keeper.end(path)]);
  expect(due).toEqual([SHOP]);
  expect(await unsent()).toMatchObject([{ message_count: 5 }]);
  await sent();
  await keeper.end(join(folder, "no-such.jsonl"));
  expect(due).toEqual([SHOP]);
});

test("a session's record says when a session ended, until it goes on", async () => {
  const path = transcript("one", folder, said());
  await keeper.look();
  expect(await unsent()).toMatchObject([{ ended_at: null }]);
  world.advance(1000);
  const end = new Date(world.now()).toISOString();
  await keeper.end(path);
  expect(await unsent()).toMatchObject([{ ended_at: end }]);
  // A title that comes late, and a restart, change nothing of it.
  appendFileSync(path, titled("After"));
  await keeper.stop();
  world.advance(MINUTE_MS);
  keeper = await begin();
  expect(await unsent()).toMatchObject([{ title: "After", ended_at: end }]);
  appendFileSync(path, said());
  await keeper.look();
  expect(await unsent()).toMatchObject([{ ended_at: null }]);
});

/** A line of a transcript that is as old as now. */
function said(): string {
  const timestamp = new Date(world.now()).toISOString();
  const uuid = crypto.randomUUID();
  const message = { content: "go on" };
  return `${JSON.stringify({ type: "user", cwd: folder, timestamp, uuid, message })}\n`;
}

async function sent(): Promise<void> {
  const sessions = await unsentSessions(store.reader, LOCAL_ACCOUNT, SHOP);
  await store.write(({ db }) => noteSentSessions(db, LOCAL_ACCOUNT, sessions));
}

test("nothing is read while it is off, nor recorded of then once it is on", async () => {
  const from = Date.parse("2026-11-01T00:00:00Z");
  const [at, until] = [from + MINUTE_MS, from + 10 * MINUTE_MS];
  const before = transcript("before", folder);
  const rested = transcript("rested", folder);
  for (const path of [before, rested]) utimesSync(path, from / 1000 - 60, from / 1000 - 60);
  await keeper.look();
  await sent();
  isOn = false;
  const meanwhile = transcript("meanwhile", folder);
  appendFileSync(before, titled("Of meanwhile"));
  for (const path of [before, meanwhile]) utimesSync(path, at / 1000, at / 1000);
  await keeper.look();
  expect(await store.reader.selectFrom("transcripts").select("path").execute()).toHaveLength(2);
  isOn = true;
  off = { from, until };
  await keeper.look();
  expect(off).toBeUndefined();
  expect(await unsent()).toEqual([]);
  for (const path of [before, meanwhile]) appendFileSync(path, titled("Later"));
  await keeper.end(meanwhile);
  await keeper.stop();
  keeper = await begin();
  expect(await unsent()).toEqual([]);
  appendFileSync(rested, titled("Goes on"));
  transcript("new", folder);
  await keeper.look();
  expect((await unsent()).map(({ id, title }) => [id, title]).sort()).toEqual([
    ["sess_new", null],
    ["sess_rested", "Goes on"],
  ]);
});

test("when it was off is known until a look has found what ran then", async () => {
  const home = { noSessions: join(folder, "off"), offPeriod: join(folder, "period") };
  const { isOn: isStillOn, offPeriod, onOffPeriodSeen } = sessionSwitchOf(home);
  switchSessions(home, false, 1000);
  switchSessions(home, false, 2000);
  expect([isStillOn(), offPeriod()]).toEqual([false, undefined]);
  switchSessions(home, true, 3000);
  switchSessions(home, true, 4000);
  expect([isStillOn(), offPeriod()]).toEqual([true, { from: 1000, until: 3000 }]);
  switchSessions(home, false, 5000);
  switchSessions(home, true, 6000);
  onOffPeriodSeen({ from: 1000, until: 3000 });
  expect(offPeriod()).toEqual({ from: 1000, until: 6000 });
  onOffPeriodSeen({ from: 1000, until: 6000 });
  expect(offPeriod()).toBeUndefined();
});
