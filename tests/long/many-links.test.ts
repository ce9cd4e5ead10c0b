import { expect } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import type { Need } from "../support/needs.ts";
import { ON_PLAIN_SERVICE, PUBLISHED_ONLY } from "../support/plain-service.ts";
import { PATIENCE, waitFor } from "../support/wait-for.ts";

/** By a plan's limits, as a service of ours is by default. */
const LIMITED = ["--limits", "on"];
const DEADLINE_MS = 600_000;
const EXCHANGE: Need = {
  isMet: !ON_PLAIN_SERVICE,
  missing: "a plain service has no call about many projects",
};
/** Each look at hundreds of projects takes the daemon some time. */
const LOOK_MS = 500;
/** The first look at hundreds of folders, in which nothing else is seen of it, takes no longer. */
const STALL_MS = 60_000;

/** Folders with a text each, in no repository. */
async function makeFolders(lab: Lab, count: number): Promise<string[]> {
  const folders = Array.from({ length: count }, (_, at) => lab.git.path(`folder-${at}`));
  for (const [at, folder] of folders.entries()) {
    await mkdir(folder);
    await writeFile(join(folder, "CLAUDE.md"), textOf(at));
  }
  return folders;
}

/** How many requests of the account the service has counted, this one left out. */
async function countRequests({ url, token }: ServiceConfig): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/projects/stats`, { headers });
  expect(answer.status).toBe(200);
  const { requests } = (await answer.json()) as { requests: { day: { used: number } } };
  return requests.day.used - 1;
}

/** How many projects, their files and the user's own documents are as they are to be. */
function countSettled({ projects, remotes }: DaemonStatus): number {
  const synced = [...projects, ...remotes.map(({ own }) => own)].filter(
    ({ contacted, waiting }) => contacted && waiting === 0,
  );
  const folders = projects.flatMap((project) => project.folders);
  return synced.length + folders.filter(({ state }) => state === "followed").length;
}

/**
 * Until every file is followed and the service has acknowledged all that is in it. Waits for as
 * long as more of them are: a machine that does other things is slow, and a stall still ends it.
 */
async function untilSynced(machine: Machine, count: number): Promise<void> {
  let settled = 0;
  let isAll = false;
  while (!isAll) {
    const before = settled;
    const more = async () => {
      const status = await machine.status();
      settled = countSettled(status);
      isAll = settled === 2 * count + status.remotes.length;
      return settled > before;
    };
    await waitFor(`more than ${before} to be synced`, more, STALL_MS * PATIENCE, LOOK_MS);
  }
}

/** Names and texts of some of the projects, as the service has them. */
async function textsAt({ url, token }: ServiceConfig, machine: Machine, at: readonly number[]) {
  const { projects } = await machine.status();
  const headers = { authorization: `Bearer ${token}` };
  const read = at.map(async (each) => {
    const project = projects.find(({ name }) => name === `folder-${each}`);
    const answer = await fetch(`${url}/api/projects/${project?.id}`, { headers });
    const { name, claude_md_content: text } = (await answer.json()) as Record<string, unknown>;
    return [name, text];
  });
  return await Promise.all(read);
}

function textsOf(at: readonly number[]): string[][] {
  return at.map((each) => [`folder-${each}`, textOf(each)]);
}

function textOf(at: number): string {
  return `# Project ${at}\n\nRules.\n`;
}

scenario(
  "fifty folders that are linked at once cost at most ten requests",
  async (lab) => {
    const emulator = await lab.emulator(undefined, LIMITED);
    const account = emulator.account("fifty");
    const folders = await makeFolders(lab, 50);
    const machine = lab.machine("a", lab.git.folder, account);
    machine.begin(...folders);
    await untilSynced(machine, 50);
    expect(await countRequests(account)).toBeLessThanOrEqual(10);
    expect(await textsAt(account, machine, [0, 31, 49])).toEqual(textsOf([0, 31, 49]));
  },
  { deadlineMs: DEADLINE_MS, needs: EXCHANGE },
);

scenario(
  "folders that are linked one after another cost two requests and one each",
  async (lab) => {
    const emulator = await lab.emulator(undefined, LIMITED);
    const account = emulator.account("twelve");
    const [first = "", ...others] = await makeFolders(lab, 13);
    const machine = lab.machine("a", first, account);
    await machine.up();
    await untilSynced(machine, 1);
    await waitFor("the live socket", async () => (await machine.status()).service.live);
    const before = await countRequests(account);
    // Two, or one where the text was read before the first, and the live socket's handshake.
    expect(before).toBeLessThanOrEqual(3);
    for (const dir of others) await machine.ask("POST", "/_memsync/link", { dir });
    await untilSynced(machine, 13);
    // The first count was a request, too.
    const used = (await countRequests(account)) - before - 1;
    expect(used).toBeLessThanOrEqual(others.length + 2);
  },
  { deadlineMs: DEADLINE_MS, needs: EXCHANGE },
);

scenario(
  "folders of which each is linked when the one before is synced cost one request each",
  async (lab) => {
    const emulator = await lab.emulator(undefined, LIMITED);
    const account = emulator.account("single");
    const [first = "", ...others] = await makeFolders(lab, 7);
    const machine = lab.machine("a", first, account);
    await machine.up();
    await untilSynced(machine, 1);
    await waitFor("the live socket", async () => (await machine.status()).service.live);
    const before = await countRequests(account);
    for (const [at, dir] of others.entries()) {
      await machine.ask("POST", "/_memsync/link", { dir });
      await untilSynced(machine, at + 2);
    }
    // The first count was a request, too.
    const used = (await countRequests(account)) - before - 1;
    expect(used).toBeLessThanOrEqual(others.length + 2);
    expect(await textsAt(account, machine, [1, 6])).toEqual(textsOf([1, 6]));
  },
  { deadlineMs: DEADLINE_MS, needs: EXCHANGE },
);

scenario(
  "two hundred folders are synced within a minute of a plan's requests",
  async (lab) => {
    const emulator = await lab.emulator(undefined, LIMITED);
    const account = emulator.account("hundreds");
    const folders = await makeFolders(lab, 200);
    const machine = lab.machine("a", lab.git.folder, account);
    machine.begin(...folders);
    await untilSynced(machine, 200);
    expect(await countRequests(account)).toBeLessThanOrEqual(30);
    expect(await textsAt(account, machine, [0, 77, 199])).toEqual(textsOf([0, 77, 199]));
  },
  { deadlineMs: DEADLINE_MS, needs: EXCHANGE },
);

scenario(
  "of a dozen folders the texts go at once, though the service tells no limits",
  async (lab) => {
    const emulator = await lab.emulator(undefined, [...PUBLISHED_ONLY, ...LIMITED]);
    const account = emulator.account("untold");
    const folders = await makeFolders(lab, 20);
    const machine = lab.machine("a", lab.git.folder, account);
    await machine.up(...folders.slice(0, 12));
    const isThrottled = async () => (await machine.status()).service.throttled ?? false;
    await waitFor("the minute to be used", isThrottled, 30_000 * PATIENCE, LOOK_MS);
    expect(await textsAt(account, machine, [0, 5, 11])).toEqual(textsOf([0, 5, 11]));
    for (const dir of folders.slice(12)) await machine.ask("POST", "/_memsync/link", { dir });
    const isMore = async () => {
      const found = await isThrottled();
      return found && found.projects > 12 && found;
    };
    const throttled = await waitFor("more to wait", isMore, 30_000 * PATIENCE, LOOK_MS);
    expect(throttled).toMatchObject({
      code: "requests-used",
      reason: "the account has 60 requests a minute",
    });
    const { stdout } = await machine.run(["status"]);
    expect(stdout).toMatch(/\d+ projects still to go, the next in [\d a-z]+: the account has 60/);
  },
  { deadlineMs: DEADLINE_MS },
);
