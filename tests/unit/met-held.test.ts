import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heldAdvice } from "../../daemon/held/advice.ts";
import { type HeldWrite, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { settleMet } from "../../daemon/overwritten/met-held.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { findHeldWhere } from "../../daemon/status/held-status.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const PROJECT = projectId("met");
const SECRET = `GITHUB_TOKEN=${PLANTED.github}`;
const REASON = {
  code: "looks-like-secret",
  rule: "github-pat",
  like: "a GitHub token",
  line: null,
  more: 0,
  inKey: false,
} as const;
const folder = mkdtempSync(join(tmpdir(), "memsync-met-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

type Why = Pick<HeldWrite, "cause" | "reason">;

const PRIVATE = { cause: "private", reason: REASON } as const;

/** A home in which a token is held of the memory `tok`, over an earlier value. */
async function openHome({ value = SECRET as string | undefined, why = PRIVATE as Why } = {}) {
  const store = await openTestReplica(join(folder, `${stores.length}.db`), realWorld);
  stores.push(store);
  const edit = (make: (open: OpenDocument) => unknown) =>
    store.write(async (context) => {
      make(await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT)));
    });
  await edit(({ document }) => document.setEntry("memories", "tok", { value: "soon", now: NOW }));
  await store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    const seen = document.memories.get("tok").map(({ id }) => id);
    const place = { kind: "memory", account: LOCAL_ACCOUNT, document: PROJECT } as const;
    await putHeld(context.db, {
      ...place,
      key: "tok",
      value,
      seen,
      writtenAt: NOW + 1000,
      ...why,
    });
  });
  /** Another machine writes, and a service has answered. */
  const arrive = async (value: string, now: number) => {
    await edit(({ document }) => document.setEntry("memories", "tok", { value, now }));
    await store.write(({ db }) => settleMet(db));
  };
  const shown = async () =>
    (await readLocalMemories(store.reader, PROJECT)).map(({ value, held }) => {
      return [value, held !== undefined];
    });
  const held = async () => {
    const said: string[] = [];
    for (const item of await listHeld(store.reader)) {
      said.push(heldAdvice(item, await findHeldWhere(store.reader, item)));
    }
    return said;
  };
  return { arrive, shown, held };
}

test("what others write later of a held memory is shown, and what is held stays", async () => {
  const home = await openHome();
  await home.arrive("kept in the vault since Monday", NOW + 2000);
  expect(await home.shown()).toEqual([["kept in the vault since Monday", false]]);
  expect(await home.held()).toEqual([
    expect.stringMatching(/looks like a GitHub token; written over or deleted since; /),
  ]);
});

test.each([SECRET, "refused, and my only copy", undefined])(
  "what the service refused stays when others write it later: %p",
  async (value) => {
    const home = await openHome({ value, why: { ...PRIVATE, cause: "refused" } });
    await home.arrive("of b", NOW + 2000);
    await home.arrive("of b again", NOW + 3000);
    expect(await home.shown()).toEqual([["of b again", false]]);
    expect(await home.held()).toEqual([
      expect.stringMatching(/^held: refused by the service: .*; written over or deleted since; /),
    ]);
  },
);

test("what is held stays even where others write all of it but its secret", async () => {
  const home = await openHome({ value: `the token\n${SECRET}` });
  await home.arrive("the token\nGITHUB_TOKEN=", NOW + 2000);
  expect(await home.held()).toHaveLength(1);
});

test("who has a line of one's own in a key is told of another key, and not to take it out", () => {
  const place = { kind: "memory", account: LOCAL_ACCOUNT, document: PROJECT, key: "tok" } as const;
  const write = { cause: "private", shown: true, retryBatch: undefined } as const;
  const lines = { code: "personal-lines", lines: [], inKey: true } as const;
  for (const reason of [lines, { ...REASON, inKey: true, personal: [] }]) {
    const advice = heldAdvice({ ...place, ...write, reason });
    expect(advice).toContain("its key ");
    expect(advice).toMatch(/: give it another key, or `memsync held allow \w+` syncs it$/);
  }
});

test("what others wrote earlier hides nothing that is held", async () => {
  const home = await openHome();
  await home.arrive("of the day before", NOW + 500);
  expect(await home.shown()).toEqual([[SECRET, true]]);
  expect(await home.held()).toEqual([expect.stringContaining("it stays on this machine")]);
});

test.each([500, 2000])("what others have synced does not stay here, and is told", async (later) => {
  const home = await openHome();
  await home.arrive(SECRET, NOW + later);
  expect(await home.shown()).toEqual([[SECRET, false]]);
  const [told = "", ...more] = await home.held();
  expect(more).toEqual([]);
  expect(told).not.toContain("stays on this machine");
  expect(told).toMatch(
    /; synced elsewhere since \d{4}-\d\d-\d\dT\S+Z; `memsync rm` deletes it on all /,
  );
});
