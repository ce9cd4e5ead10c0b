import { expect, test } from "bun:test";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { EMBEDDED, UNKNOWN_SERVICE } from "../../daemon/home/remote.ts";
import type { KeptBindings } from "../../daemon/recovery/links-file.ts";
import type { DamagedRow, DamagedTable } from "../../daemon/recovery/read-damaged.ts";
import { SalvagedBindings } from "../../daemon/recovery/salvaged-bindings.ts";
import { type AccountId, asAccountId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";

const A = asAccountId("local/a/1");
const PROJECT = "proj_p";
const ROWS = [
  { name: EMBEDDED, url: null, account: LOCAL_ACCOUNT, token_place: null, is_default: 0 },
  { name: "a", url: "https://a.example.com", account: A, token_place: "file", is_default: 1 },
] as const;

const UNREAD: DamagedTable = { rows: [], whole: false };
const MIGRATED = whole([{ name: "daemon-remotes" }]);

function whole(rows: readonly object[]): DamagedTable {
  return { rows: rows.map((row, at) => ({ ...row, rowid_: at }) as DamagedRow), whole: true };
}

function keptWith(projects: Readonly<Record<string, AccountId>>, url = ROWS[1].url): KeptBindings {
  return {
    remotes: ROWS.map((row) => ({
      name: row.name,
      url: row.name === "a" ? url : undefined,
      account: row.account,
      tokenPlace: row.token_place ?? undefined,
      isDefault: row.is_default === 1,
    })),
    projects,
  };
}

function bindings(
  sources: Partial<ConstructorParameters<typeof SalvagedBindings>[0]>,
): SalvagedBindings {
  const none = { remotes: UNREAD, migrations: UNREAD, documents: [], kept: undefined };
  return new SalvagedBindings({ ...none, ...sources, world: realWorld });
}

/** The address that what is this account's is sent to; null for the embedded service. */
function urlOf(from: SalvagedBindings, account: string): string | null | undefined {
  return from.remotes().find((each) => each.account === account)?.url;
}

test("a whole table and a copy that say the same are taken as they are", () => {
  const from = bindings({
    remotes: whole(ROWS),
    migrations: MIGRATED,
    kept: keptWith({ [PROJECT]: A }),
  });
  expect(from.ownerOf({ name: PROJECT, owner: A })).toBe(A);
  expect(from.ownerOf({ name: "global", owner: A })).toBe(A);
  expect(from.remotes()).toEqual(ROWS.map((row) => ({ ...row })));
});

test("where one of the two can't be read, the other is enough", () => {
  for (const sources of [
    { remotes: whole(ROWS), migrations: MIGRATED },
    { kept: keptWith({ [PROJECT]: A }) },
  ]) {
    const from = bindings(sources);
    expect(urlOf(from, from.ownerOf({ name: PROJECT, owner: A }))).toBe(ROWS[1].url);
  }
  const from = bindings({ kept: keptWith({ [PROJECT]: A }) });
  expect(from.ownerOfLink(PROJECT)).toBe(A);
});

test("a project of which the two say different things, or nothing, is sent nowhere", () => {
  const tables = { remotes: whole(ROWS), migrations: MIGRATED };
  const from = bindings({ ...tables, kept: keptWith({ [PROJECT]: LOCAL_ACCOUNT }) });
  for (const owner of [
    from.ownerOf({ name: PROJECT, owner: A }),
    from.ownerOf({ name: "proj_other", owner: asAccountId("local/damaged") }),
    from.ownerOfLink("proj_unheard_of"),
  ]) {
    expect(urlOf(from, owner)).toBe(UNKNOWN_SERVICE);
  }
  expect(urlOf(from, from.ownerOf({ name: "proj_sure", owner: A }))).toBe(ROWS[1].url);
});

test("where the remotes themselves are not sure, nothing is sent anywhere", () => {
  const documents = [
    { name: PROJECT, owner: A },
    { name: "user/local", owner: LOCAL_ACCOUNT },
  ];
  const tables = { remotes: whole(ROWS), migrations: MIGRATED };
  for (const sources of [
    { migrations: MIGRATED },
    { ...tables, kept: keptWith({}, "https://b.example.com" as (typeof ROWS)[1]["url"]) },
    { kept: { remotes: [], projects: {} } },
  ]) {
    const from = bindings({ ...sources, documents });
    expect(from.areNamed).toBe(true);
    for (const document of documents) {
      expect(urlOf(from, from.ownerOf(document))).toBe(UNKNOWN_SERVICE);
    }
    expect(urlOf(from, from.ownerOfLink("proj_other"))).toBe(UNKNOWN_SERVICE);
    expect(from.remotes().map(({ name }) => name)).toEqual([EMBEDDED, "unbound", "unbound-2"]);
  }
});

test("a home that never named a remote goes on following its environment", () => {
  const documents = [{ name: PROJECT, owner: LOCAL_ACCOUNT }];
  for (const sources of [
    { migrations: whole([{ name: "daemon-0002-inbox-kinds" }]) },
    { remotes: whole([]), migrations: MIGRATED },
    { kept: { remotes: [], projects: {} } },
  ]) {
    const from = bindings({ ...sources, documents });
    expect(from.areNamed).toBe(false);
    expect(from.ownerOf(documents[0] as (typeof documents)[0])).toBe(LOCAL_ACCOUNT);
  }
});
