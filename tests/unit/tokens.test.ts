import { afterEach, describe, expect, test } from "bun:test";
import { HostAdmin, type TokenRequest } from "../../server/accounts/host-admin.ts";
import { hashToken, isWellFormedToken, mintToken } from "../../server/accounts/token.ts";
import { TokenAuthenticator } from "../../server/accounts/token-authenticator.ts";
import { openHostStore } from "../../server/stores/open-store.ts";
import { parseProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createTestWorld } from "../support/test-world.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const REQUEST: TokenRequest = {
  account: "acme",
  user: "ann",
  name: "laptop",
  scope: "write",
  projects: null,
  expiresAt: null,
};

let close: () => Promise<void> = async () => {};
afterEach(() => close());

async function start() {
  let now = Date.UTC(2026, 0, 1);
  const world: World = { ...realWorld, now: () => now, monotonic: () => now };
  const host = await openHostStore(":memory:", world);
  close = host.close;
  const admin = new HostAdmin(host.database, world);
  await admin.createAccount("acme", "team");
  const tokens = new TokenAuthenticator(host.database, world, silentLog);
  return {
    ...host,
    admin,
    tokens,
    ask: (token: string) => tokens.authenticate(`Bearer ${token}`),
    advance: (ms: number) => {
      now += ms;
    },
    now: () => now,
  };
}

describe("a token", () => {
  test("a token has the published form, and its checksum tells it from a mistyped one", () => {
    const token = mintToken(realWorld);
    expect(token).toMatch(/^mst_[0-9A-Za-z]{36}$/);
    expect(isWellFormedToken(token)).toBe(true);
    for (let at = 4; at < token.length; at++) {
      const other = token[at] === "a" ? "b" : "a";
      expect(isWellFormedToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
    }
  });

  test("a token is made of all base62 digits, equally likely", () => {
    const counts = new Map<string, number>();
    const world = createTestWorld("digits");
    for (let minted = 0; minted < 2000; minted++) {
      for (const digit of mintToken(world).slice(4, 34)) {
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    // 60,000 digits give each about 968; a byte taken modulo 62 would give some 1,172.
    expect(Math.max(...counts.values())).toBeLessThan(1130);
  });

  test("a token is kept as its hash alone", async () => {
    const { admin, database } = await start();
    const { token } = await admin.createToken(REQUEST);
    const rows = await database.reader.selectFrom("tokens").selectAll().execute();
    expect(rows[0]?.hash).toBe(hashToken(token));
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
  });
});

describe("a server", () => {
  test("a server knows whose a token is, what it may do and what it is bound to", async () => {
    const { admin, ask } = await start();
    const project = parseProjectId("proj_one");
    if (!project) throw new Error("a well-formed id");
    const written = await admin.createToken(REQUEST);
    const bound = await admin.createToken({ ...REQUEST, scope: "read", projects: [project] });
    const other = await admin.createToken({ ...REQUEST, user: "bob" });
    const caller = await ask(written.token);
    expect(caller).toMatchObject({ plan: "team", canWrite: true, boundTo: null });
    expect(await ask(bound.token)).toMatchObject({ canWrite: false, boundTo: [project] });
    const colleague = await ask(other.token);
    expect(colleague?.account).toBe(caller?.account ?? ("none" as never));
    expect(colleague?.user).not.toBe(caller?.user ?? ("none" as never));
  });

  test("a server refuses what was never minted, development tokens among it", async () => {
    const { ask, tokens } = await start();
    for (const token of [mintToken(realWorld), "mst_dev_pro", "mst_dev_readonly", "mst_", "x"]) {
      expect(await ask(token)).toBeUndefined();
    }
    expect(await tokens.authenticate(null)).toBeUndefined();
    expect(await tokens.authenticate("Basic abc")).toBeUndefined();
  });

  test("a server refuses an expired token from its last millisecond on", async () => {
    const { admin, ask, advance, now } = await start();
    const { token } = await admin.createToken({ ...REQUEST, expiresAt: now() + DAY_MS });
    advance(DAY_MS - 1);
    expect(await ask(token)).toBeDefined();
    advance(1);
    expect(await ask(token)).toBeUndefined();
  });

  test("a server refuses a revoked token within a second", async () => {
    const { admin, ask, advance } = await start();
    const { id, token } = await admin.createToken(REQUEST);
    expect(await ask(token)).toBeDefined();
    await admin.revokeToken(id);
    advance(1000);
    expect(await ask(token)).toBeUndefined();
    expect(admin.revokeToken(id)).rejects.toThrow("revoked already");
  });

  test("notes when a token was last used, once a minute at most", async () => {
    const { admin, ask, advance, tokens, now } = await start();
    const { token } = await admin.createToken(REQUEST);
    const first = now();
    await ask(token);
    advance(30_000);
    await ask(token);
    await tokens.settled();
    expect((await admin.listTokens("acme"))[0]?.lastUsedAt).toBe(first);
    advance(30_000);
    await ask(token);
    await tokens.settled();
    expect((await admin.listTokens("acme"))[0]?.lastUsedAt).toBe(first + 60_000);
  });

  test("a server names the account or token that it does not have, and the list of them", async () => {
    const { admin } = await start();
    const account = 'there is no account "nope": `memsync server account list` lists them';
    expect(admin.listUsers("nope")).rejects.toThrow(account);
    expect(admin.listTokens("nope")).rejects.toThrow(account);
    expect(admin.setPlan("nope", "team")).rejects.toThrow(account);
    const token =
      'no token has the id "nope", or it is revoked already: `memsync server token list`';
    expect(admin.revokeToken("nope")).rejects.toThrow(token);
  });

  test("a token that names no user makes one only where there is none", async () => {
    const { admin } = await start();
    await admin.createAccount("other", "team");
    const { user: _, ...request } = { ...REQUEST, account: "other" };
    expect(await admin.createToken(request)).toMatchObject({ user: "owner", isNewUser: true });
    expect(await admin.createToken(request)).toMatchObject({ user: "owner", isNewUser: false });
    await admin.createAccount("third", "team");
    const named = await admin.createToken({ ...request, account: "third", user: "ann" });
    expect(named).toMatchObject({ user: "ann", isNewUser: true });
    await expect(admin.createToken({ ...request, account: "third" })).rejects.toThrow(
      "third has users (ann): say by --user whose token it is to be",
    );
    expect((await admin.listUsers("third")).map(({ name }) => name)).toEqual(["ann"]);
  });

  test("a server refuses a second account of one name and a token of none", async () => {
    const { admin } = await start();
    expect(admin.createAccount("acme", "pro")).rejects.toThrow("there already");
    for (const name of ["../acme", "Bad Name!", "-acme", "a/b", "a\\b", "acme$"]) {
      await expect(admin.createAccount(name, "pro")).rejects.toThrow("begins with a letter");
    }
    await admin.createAccount("Müller-2.de", "pro");
    await expect(admin.createToken({ ...REQUEST, user: "an n" })).rejects.toThrow(
      "the name of a user begins with a letter or a digit, and has only those and . _ @ + - in it",
    );
    expect(admin.createToken({ ...REQUEST, account: "nobody" })).rejects.toThrow(
      'there is no account "nobody": `memsync server account list` lists them',
    );
  });
});
