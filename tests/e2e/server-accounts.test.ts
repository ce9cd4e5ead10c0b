import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { connectLive } from "../support/live-client.ts";
import { ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const LISTED = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";

async function ask(url: string, token: string, method: string, path: string, body?: unknown) {
  return await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function statusOf(url: string, token: string): Promise<number> {
  return (await ask(url, token, "GET", "/v1/memories")).status;
}

/** A project, and a memory of each layer, all of which name `mark`. */
async function fill(url: string, token: string, mark: string): Promise<void> {
  const memories = [{ key: "k", value: `${mark} project` }];
  const made = { claude_md_content: `${mark} text\n`, memories };
  await ask(url, token, "POST", "/api/projects", { id: "proj_p", name: `${mark} name` });
  expect((await ask(url, token, "POST", "/api/projects/proj_p/sync", made)).status).toBe(200);
  for (const layer of ["user", "global"]) {
    const memory = { content: `${mark} ${layer}`, key: "k", layer };
    expect((await ask(url, token, "POST", "/v1/memories", memory)).status).toBe(200);
  }
}

/** All that the database still holds of what has `mark` in it, by table. */
function remainsOf(path: string, mark: string): string[] {
  using db = new Database(path, { readonly: true });
  const tables = db.query<{ name: string }, []>(LISTED).all();
  return tables.flatMap(({ name }) => {
    const rows = db.query<Record<string, unknown>, []>(`SELECT * FROM "${name}"`).all();
    return rows.some((row) => textOf(row).includes(mark)) ? [name] : [];
  });
}

function textOf(row: Readonly<Record<string, unknown>>): string {
  return Object.values(row)
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value))
    .join("\n");
}

/** A call that has come, but for the end of its body. */
function startSlowly(url: string, token: string, path: string, body: unknown) {
  const bytes = Buffer.from(JSON.stringify(body));
  const { promise: untilSaid, resolve: say } = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 10));
      await untilSaid;
      controller.enqueue(bytes.subarray(10));
      controller.close();
    },
  });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = fetch(`${url}${path}`, { method: "POST", headers, body: stream });
  return { say, answer };
}

test("a call that is under way writes nothing any more once its token is gone", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme");
  const { url } = await folder.server();
  await fill(url, token, "BEFORE");
  const memories = [{ key: "late", value: "LATE" }];
  const calls = [
    startSlowly(url, token, "/api/projects/proj_late/sync", { memories }),
    startSlowly(url, token, "/v1/memories", { key: "late", content: "LATE", layer: "global" }),
    startSlowly(url, token, "/api/projects", { id: "proj_late", name: "LATE" }),
  ];
  // Each was let in before.
  expect(await statusOf(url, token)).toBe(200);
  await folder.memsync("server", "account", "rm", "acme", "--yes");
  for (const { say } of calls) say();
  const statuses = await Promise.all(calls.map(async ({ answer }) => (await answer).status));
  expect(statuses).toEqual([401, 401, 401]);
  expect(remainsOf(folder.database, "LATE")).toEqual([]);
});

test("a token for a project that its account does not have is said to be so", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme");
  const { url } = await folder.server();
  await ask(url, token, "POST", "/api/projects", { id: "proj_p", name: "p" });
  const create = ["server", "token", "create", "--account", "acme", "--json", "--project"];
  const made = await folder.run([...create, "proj_p", "proj_nothere"]);
  const { id } = JSON.parse(made.stdout);
  expect([made.status, made.stderr]).toEqual([
    0,
    `memsync: acme has no proj_nothere yet: where it is mistyped, revoke ${id}\n`,
  ]);
  expect((await folder.run([...create, "proj_p"])).stderr).toBe("");
});

test("an account that is removed is gone with all it had, and so are its live sockets", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme");
  const other = await folder.token("other");
  const { url } = await folder.server();
  await fill(url, token, "MARKED");
  await fill(url, other, "STAYING");
  using live = await connectLive(url, token);
  using kept = await connectLive(url, other);
  const asked = await folder.run(["server", "account", "rm", "acme"]);
  expect([asked.status, asked.stdout]).toEqual([1, ""]);
  expect(asked.stderr).toBe(
    "memsync: nothing was deleted: Delete the account acme with 1 user, 1 token, 1 project and " +
      "3 memories, for good? Say so by --yes\n",
  );
  expect(await statusOf(url, token)).toBe(200);
  expect(await folder.memsync("server", "account", "rm", "acme", "--yes")).toBe(
    "deleted the account acme with 1 user, 1 token, 1 project and 3 memories",
  );
  expect((await live.closed).code).toBe(4401);
  expect(await statusOf(url, token)).toBe(401);
  expect(await statusOf(url, other)).toBe(200);
  kept.send(JSON.stringify({ type: "subscribe", project_ids: ["proj_p"] }));
  expect(await kept.next()).toMatchObject({ type: "subscribed" });
  expect(remainsOf(folder.database, "MARKED")).toEqual([]);
  expect(remainsOf(folder.database, "STAYING")).toContain("texts");
  const found = await (await ask(url, other, "GET", "/v1/memories?q=STAYING")).json();
  expect(found).toMatchObject({ total: 3 });
  const again = await folder.run(["server", "account", "rm", "acme", "--yes"]);
  expect(again.stderr).toBe(
    "memsync: there is no account acme: `memsync server account list` lists them\n",
  );
});

test("a user who is removed leaves the projects, and takes along what was their own", async () => {
  await using folder = await ServerFolder.create();
  const ann = await folder.token("acme", "--user", "ann");
  const bob = await folder.token("acme", "--user", "bob");
  const { url } = await folder.server();
  await fill(url, ann, "MARKED");
  using live = await connectLive(url, ann);
  const users = ["server", "user", "list", "--account", "acme"];
  expect(await folder.memsync(...users)).toMatch(/ann.*\n.*bob/);
  const removed = await folder.memsync("server", "user", "rm", "ann", "--account", "acme", "--yes");
  expect(removed).toBe(
    "deleted the user ann with 1 token and 1 memory of their own; projects stay",
  );
  expect((await live.closed).code).toBe(4401);
  expect(await statusOf(url, ann)).toBe(401);
  const shown = await (await ask(url, bob, "GET", "/v1/memories?project_id=proj_p")).text();
  expect(shown).toContain("MARKED project");
  expect(shown).toContain("MARKED global");
  expect(remainsOf(folder.database, "MARKED user")).toEqual([]);
  expect(await folder.memsync(...users)).not.toContain("ann");
  const newAnn = await folder.token("acme", "--user", "ann");
  expect(await (await ask(url, newAnn, "GET", "/v1/memories?layer=user")).json()).toMatchObject({
    total: 0,
  });
});

test("a token that is revoked closes its live sockets, and no others", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme");
  const other = await folder.token("acme");
  const { url } = await folder.server();
  using live = await connectLive(url, token);
  using kept = await connectLive(url, other);
  const tokens = JSON.parse(await folder.memsync("server", "token", "list", "--json"));
  await folder.memsync("server", "token", "revoke", tokens[0].id);
  expect((await live.closed).code).toBe(4401);
  kept.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
  expect(await kept.next()).toMatchObject({ type: "subscribed" });
});

test("a plan that is changed holds in a running server", async () => {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme");
  const { url } = await folder.server("--limits", "on");
  const policy = async () => {
    const response = await ask(url, token, "GET", "/v1/memories");
    return response.headers.get("ratelimit-policy");
  };
  expect(await policy()).toContain('"minute";q=120');
  expect(await folder.memsync("server", "account", "plan", "acme", "pro")).toBe(
    "acme is on the plan pro",
  );
  await waitFor("the plan's limits", async () => (await policy())?.includes('"minute";q=60'));
  const wrong = await folder.run(["server", "account", "plan", "acme", "gold"]);
  expect([wrong.status, wrong.stderr]).toEqual([2, "memsync: the plan is pro or team\n"]);
});

test("a server that nobody can use yet says what it needs, by commands that work", async () => {
  await using folder = await ServerFolder.create();
  const first = await folder.server();
  await waitFor("what it needs", async () => /--allowed-hosts.*\n/.test(first.process.stdout));
  const said = first.process.stdout.split("\n");
  expect(said[1]).toBe(
    `it has no account yet, and is kept in ${folder.database}; in another terminal:`,
  );
  const [made, minted] = said.slice(2, 4).map((line) => line.trim().replaceAll("NAME", "acme"));
  const words = (line = "") => line.split(" ").slice(1);
  await folder.memsync(...words(made));
  const token = await folder.memsync(...words(minted));
  expect(said.slice(4, 6)).toEqual([
    "and on this machine, with the token that this prints:",
    `  memsync login --url ${first.url}`,
  ]);
  expect(said[6]).toStartWith("no other machine gets there: `--host 0.0.0.0` listens for others");
  expect(await statusOf(first.url, token)).toBe(200);
  await first.process.end("SIGTERM");
  const second = await folder.server();
  expect(second.process.stdout).toBe(`memsync server ready at ${second.url}\n`);
  const elsewhere = await folder.run(["server", "account", "create", "b"], {
    MEMSYNC_SERVER_DATABASE_URL: `sqlite:${folder.path("other.db")}`,
  });
  expect(elsewhere.stderr).toStartWith(`memsync: made a new database, ${folder.path("other.db")}`);
});

test("an emulator says how a daemon finds it", async () => {
  await using folder = await ServerFolder.create();
  const emulator = folder.spawn(["emulator", "--port", "0"]);
  const url = await emulator.untilPrinted(
    /MEMSYNC_URL=(\S+) MEMSYNC_TOKEN=mst_dev_pro memsync up\n/,
  );
  expect(await statusOf(url, "mst_dev_pro")).toBe(200);
});
