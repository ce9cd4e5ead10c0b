import { expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import { parseRemoteName, parseServiceUrl, type Remote } from "../../daemon/home/remote.ts";
import { type Keyring, keyringWorks, openKeyring } from "../../daemon/remotes/keyring.ts";
import { parseToken } from "../../daemon/remotes/parse-token.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { asAccountId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";

const TOKEN = "mst_dev_kept-token";

function remoteOf(account: string, tokenPlace?: Remote["tokenPlace"]): Remote {
  const url = "http://127.0.0.1:1";
  return { name: "r", url, account: asAccountId(account), tokenPlace, isDefault: true };
}

/** A keyring program that behaves as `script` says; it keeps what it is given in `$KEPT/<name>`. */
function fakeKeyring(script: string, deadlineMs = 10_000): { ring: Keyring; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "memsync-keyring-"));
  const program = join(folder, "program.ts");
  writeFileSync(
    program,
    `import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
    const { call, name, value } = await Bun.stdin.json();
    const file = process.env.KEPT + "/" + encodeURIComponent(name) + ".secret";
    const get = () => (existsSync(file) ? readFileSync(file, "utf8") : null);
    const answer = (value) => console.log(JSON.stringify({ value }));
    ${script}`,
  );
  const env = { KEPT: folder, PATH: process.env.PATH, MEMSYNC_TOKEN: TOKEN };
  const ring = openKeyring({ command: [process.execPath, program], env, deadlineMs });
  if (!ring) throw new Error("a keyring was asked for");
  return { ring, folder };
}

const GOOD = `if (call === "set") { writeFileSync(file, value); answer(null); }
  else if (call === "get") answer(get());
  else { rmSync(file, { force: true }); answer(null); }`;

function storeOver(keyring: Keyring | undefined) {
  const home = homeOf({ MEMSYNC_HOME: mkdtempSync(join(tmpdir(), "memsync-home-")) });
  return { home, tokens: new TokenStore({ home, world: realWorld, keyring }) };
}

test("a token lies in a keyring that works, and in no file", async () => {
  const { ring, folder } = fakeKeyring(GOOD);
  const { home, tokens } = storeOver(ring);
  expect(await tokens.put(remoteOf("local/a/1"), TOKEN)).toBe("keyring");
  const remote = remoteOf("local/a/1", "keyring");
  expect(await tokens.find(remote)).toEqual({ kind: "found", token: TOKEN });
  expect(await tokens.find(remoteOf("local/b/2", "keyring"))).toEqual({ kind: "locked" });
  for (const name of readdirSync(home.dir)) {
    expect(readFileSync(join(home.dir, name)).includes(TOKEN)).toBe(false);
  }
  await tokens.remove(remote);
  expect(await tokens.find(remote)).toEqual({ kind: "locked" });
  expect(await tokens.find(remoteOf("local/a/1"))).toEqual({ kind: "none" });
  // The probe's secret is gone, too.
  expect(readdirSync(folder).filter((name) => name.endsWith(".secret"))).toEqual([]);
});

test.each([
  ["fails", "process.exit(1);"],
  ["prints what is no answer", 'console.log("no keyring " + value);'],
  ["forgets what it is given", "answer(null);"],
  ["gives something else back", `if (call === "get") answer("other"); else answer(null);`],
  [
    "does not delete",
    `if (call === "set") writeFileSync(file, value); answer(call === "get" ? get() : null);`,
  ],
])("a keyring that %s is not used", async (_, script) => {
  const { ring } = fakeKeyring(script);
  expect(await keyringWorks(ring, realWorld)).toBe(false);
  const { home, tokens } = storeOver(ring);
  expect(await tokens.put(remoteOf("local/a/1"), TOKEN)).toBe("file");
  expect(readFileSync(home.credentials, "utf8")).toContain(TOKEN);
});

test("a keyring that never answers is given up at the deadline", async () => {
  const { ring } = fakeKeyring("await new Promise(() => { setInterval(() => {}, 1000); });", 300);
  expect(await ring.get("x")).toEqual({ kind: "failed" });
  const { tokens } = storeOver(ring);
  expect(await tokens.find(remoteOf("local/a/1", "keyring"))).toEqual({ kind: "locked" });
  await expect(tokens.remove(remoteOf("local/a/1", "keyring"))).rejects.toThrow("is still there");
});

test("a token stays with a keyring that is locked, though it says that it deleted", async () => {
  const locked = 'if (call === "set") process.exit(1); answer(null);';
  const { tokens } = storeOver(fakeKeyring(locked).ring);
  await expect(tokens.remove(remoteOf("local/a/1", "keyring"))).rejects.toThrow("is still there");
});

test("the keyring's process gets no variable of ours, and its secret by no argument", async () => {
  const { ring, folder } = fakeKeyring(`
    writeFileSync(process.env.KEPT + "/seen", JSON.stringify([process.env, process.argv]));
    ${GOOD}`);
  await ring.set("name", "the-secret-itself");
  const seen = readFileSync(join(folder, "seen"), "utf8");
  expect(seen).toContain("KEPT");
  expect(seen).not.toContain(TOKEN);
  expect(seen).not.toContain("the-secret-itself");
});

test("this system's keyring answers or fails in time, and `MEMSYNC_KEYRING=off` leaves it", async () => {
  expect(openKeyring({ env: { MEMSYNC_KEYRING: "off" } })).toBeUndefined();
  // No session to reach a keyring through, so that nobody's own is touched.
  const ring = openKeyring({ env: { PATH: process.env.PATH, HOME: tmpdir() } });
  const { kind } = (await ring?.get("memsync test, of which there is none")) ?? {};
  expect(kind === "done" || kind === "failed").toBe(true);
});

test("a value of `MEMSYNC_KEYRING` that is neither is refused, with both", () => {
  for (const value of ["on", ""]) {
    expect(openKeyring({ env: { MEMSYNC_KEYRING: value } })).toBeDefined();
  }
  for (const value of ["maybe", "OFF", "0"]) {
    const open = () => openKeyring({ env: { MEMSYNC_KEYRING: value } });
    expect(open).toThrow("MEMSYNC_KEYRING is `on`, as without it, or `off`");
  }
});

test("the file is its owner's alone, whole at every moment, and keeps tokens apart", async () => {
  const { home, tokens } = storeOver(undefined);
  const accounts = ["local/a/1", "local/b/2", "local/c/3", "local/d/4"];
  await Promise.all(accounts.map((each) => tokens.put(remoteOf(each), `${TOKEN}-${each}`)));
  for (const each of accounts) {
    const found = await tokens.find(remoteOf(each, "file"));
    expect(found).toEqual({ kind: "found", token: `${TOKEN}-${each}` });
  }
  expect(statSync(home.credentials).mode & 0o777).toBe(0o600);
  chmodSync(home.credentials, 0o644);
  await tokens.remove(remoteOf("local/a/1", "file"));
  expect(statSync(home.credentials).mode & 0o777).toBe(0o600);
  expect(readFileSync(home.credentials, "utf8")).not.toContain("local/a/1");
  // What a login that was killed has left does not keep the next one from writing.
  writeFileSync(`${home.credentials}.new`, "half of", { mode: 0o666 });
  await tokens.put(remoteOf("local/a/1"), TOKEN);
  expect(await tokens.find(remoteOf("local/a/1", "file"))).toEqual({ kind: "found", token: TOKEN });
  expect(statSync(home.credentials).mode & 0o777).toBe(0o600);
});

/** A home with its database, whose token is kept, and what moves or copies it. */
async function homeWithToken(keyring: Keyring | undefined) {
  const { home, tokens } = storeOver(keyring);
  writeFileSync(home.database, "");
  const place = await tokens.put(remoteOf("local/a/1"), TOKEN);
  return { home, tokens, remote: remoteOf("local/a/1", place) };
}

function storeAt(dir: string, keyring: Keyring | undefined): TokenStore {
  return new TokenStore({ home: homeOf({ MEMSYNC_HOME: dir }), world: realWorld, keyring });
}

test("a home that is moved, or copied, has its token in the file with it", async () => {
  const { home, tokens, remote } = await homeWithToken(undefined);
  cpSync(home.dir, `${home.dir}-copy`, { recursive: true });
  const copy = storeAt(`${home.dir}-copy`, undefined);
  expect(await copy.find(remote)).toEqual({ kind: "found", token: TOKEN });
  expect(await copy.find(remoteOf("a/1", "file"))).toEqual({ kind: "none" });
  await copy.put(remote, `${TOKEN}-other`);
  expect(await copy.find(remote)).toEqual({ kind: "found", token: `${TOKEN}-other` });
  expect(readFileSync(join(`${home.dir}-copy`, "credentials.json"), "utf8")).not.toMatch(
    `"${TOKEN}"`,
  );
  // Each of the two logs out for itself.
  await copy.remove(remote);
  expect(await copy.find(remote)).toEqual({ kind: "none" });
  expect(await tokens.find(remote)).toEqual({ kind: "found", token: TOKEN });
  renameSync(home.dir, `${home.dir}-moved`);
  const moved = storeAt(`${home.dir}-moved`, undefined);
  expect(await moved.find(remote)).toEqual({ kind: "found", token: TOKEN });
  await moved.remove(remote);
  expect(readFileSync(join(`${home.dir}-moved`, "credentials.json"), "utf8")).toBe("{}");
});

test("a home that is moved or copied takes no token that another home has in the keyring", async () => {
  const { ring } = fakeKeyring(GOOD);
  const { home, tokens, remote } = await homeWithToken(ring);
  renameSync(home.dir, `${home.dir}-moved`);
  const moved = storeAt(`${home.dir}-moved`, ring);
  expect(await moved.find(remote)).toEqual({ kind: "locked" });
  // Another home is at the former path now, perhaps of another service.
  mkdirSync(home.dir);
  await tokens.put(remote, `${TOKEN}-other`);
  expect(await moved.find(remote)).toEqual({ kind: "locked" });
  await moved.put(remote, TOKEN);
  expect(await tokens.find(remote)).toEqual({ kind: "found", token: `${TOKEN}-other` });
});

test("a damaged file is named, without what is in it", async () => {
  const { home, tokens } = storeOver(undefined);
  writeFileSync(home.credentials, `{"${TOKEN}`);
  const failed = await tokens.find(remoteOf("local/a/1", "file")).then(String, String);
  expect(failed).toContain(`${home.credentials} can't be read: remove it`);
  expect(failed).not.toContain(TOKEN);
});

test("a file that is JSON of something else is damaged, too, and is not written over", async () => {
  const { home, tokens } = storeOver(undefined);
  for (const text of ["null", `["${TOKEN}"]`, '{"local/b/1":7}']) {
    writeFileSync(home.credentials, text);
    const found = await tokens.find(remoteOf("local/a/1", "file")).then(String, String);
    const put = await tokens.put(remoteOf("local/a/1"), TOKEN).then(String, String);
    for (const failed of [found, put]) {
      expect(failed).toContain(`${home.credentials} can't be read: remove it`);
      expect(failed).not.toContain(TOKEN);
    }
    expect(readFileSync(home.credentials, "utf8")).toBe(text);
  }
});

test("what is refused is not repeated", () => {
  const refusals = [
    () => parseToken("mst_secret with spaces"),
    () => parseToken(" \n"),
    () => parseServiceUrl("https://me:mst_secret@example.com", "--url"),
    () => parseServiceUrl("mst_secret", "--url"),
    () => parseServiceUrl("https://memory.example.com/v1?token=mst_secret", "--url"),
    () => parseServiceUrl("https://memory.example.com/#mst_secret", "--url"),
    () => parseServiceUrl("https://memory.example.com?", "--url"),
    () => parseRemoteName("Mst Secret"),
  ];
  for (const refuse of refusals) {
    expect(refuse).toThrow(/^(?!.*secret)[^\n]+$/i);
  }
  expect(parseToken("  mst_dev_pro\n")).toBe("mst_dev_pro");
  expect(parseServiceUrl("http://127.0.0.1:4777//", "--url")).toBe("http://127.0.0.1:4777");
});
