import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryIdOf } from "../../shared/ids.ts";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { Assistant } from "../support/mcp-client.ts";
import { type RunningServer, ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const ME = memoryIdOf("user", "me");
/** An update of Yjs with nothing in it. */
const EMPTY_UPDATE = "AAA=";

interface Ann {
  readonly ann: Machine;
  readonly folder: ServerFolder;
  readonly server: RunningServer;
  /** Her service, with a token of hers. */
  readonly mine: NonNullable<Machine["service"]>;
}

/** A machine of ann's of acme, with a memory of every layer. Its daemon has ended. */
async function withAnn(lab: Lab, work: (given: Ann) => Promise<void>): Promise<void> {
  await using folder = await ServerFolder.create();
  const token = await folder.token("acme", "--user", "ann");
  const server = await folder.server();
  const { url } = server;
  const dir = lab.git.path("folder-ann");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "CLAUDE.md"), "# Rules\n");
  const mine = { url, token };
  const ann = lab.machine("ann", dir, mine);
  await ann.up(dir);
  await ann.memsync("set", "me", "of ann", "--layer", "user");
  await ann.memsync("set", "all", "of acme", "--layer", "global");
  await ann.memsync("set", "ours", "of the project");
  await ann.untilSynced();
  await waitFor("the service to say whose the token is", async () => {
    return (await ann.status()).remotes[0]?.audience?.account === "acme";
  });
  await ann.down();
  await work({ ann, folder, server, mine });
}

function exchangeOf(layer: "user" | "global") {
  const documents = { [layer]: { state_vector: "AA==", update: EMPTY_UPDATE } };
  return { crdt: { encoding: "yjs-v1", documents } };
}

/** Every way in which a program writes to `user` and `global`. */
const OWN_WRITES: readonly (readonly [string, string, unknown?])[] = [
  ["POST", "/v1/memories", { content: "of another", layer: "user", key: "me" }],
  ["POST", "/v1/memories", { content: "of another", layer: "global" }],
  ["DELETE", `/v1/memories/${ME}`],
  ["POST", "/api/sync", exchangeOf("user")],
  ["POST", "/api/sync", exchangeOf("global")],
];

async function expectRefused(ann: Machine, why: RegExp): Promise<void> {
  for (const [method, path, body] of OWN_WRITES) {
    const answer = await ann.gateway(method, path, body);
    const said = (await answer.json()) as { error?: { code: string; message: string } };
    expect([path, body, answer.status, said.error?.code]).toEqual([path, body, 403, "forbidden"]);
    expect(said.error?.message).toMatch(/^nothing in (user|global) is changed through this daemon/);
    expect(said.error?.message).toMatch(why);
  }
  const { projects } = await ann.status();
  const project_id = projects[0]?.id;
  await ann.ask("POST", "/v1/memories", { content: "of the project", project_id, key: "more" });
}

const own = async (machine: Machine) =>
  (await machine.list()).filter(({ layer }) => layer !== "project").map(({ value }) => value);

scenario("a program writes nothing of one's own through a daemon with another's token", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    for (const [token, why] of [
      ["mst_garbage", /its MEMSYNC_TOKEN is not known to be ann's/],
      [await folder.token("acme", "--user", "bob"), /MEMSYNC_TOKEN is bob's, .* are ann's/],
    ] as const) {
      ann.service = { url: mine.url, token };
      await ann.up();
      await expectRefused(ann, why);
      await ann.down();
    }
    ann.service = { url: mine.url, token: await folder.token("acme", "--user", "ann") };
    await ann.up();
    // Right after the start, the service is asked whose the new token is.
    await ann.ask("POST", "/v1/memories", { content: "new", layer: "user", key: "me" });
    await ann.untilSynced();
    expect(await own(ann)).toEqual(["new", "of acme"]);
  }),
);

scenario("a token of the user's stays known after a login with a newer one", (lab) =>
  withAnn(lab, async ({ ann, folder, server, mine }) => {
    const login = ["login", "--url", mine.url, "--token-stdin"];
    const stdin = await folder.token("acme", "--user", "ann");
    expect((await ann.run(login, { stdin })).status).toBe(0);
    await server.process.end("SIGTERM");
    await ann.up();
    const later = { content: "offline", layer: "user", key: "me" };
    await ann.ask("POST", "/v1/memories", later);
    await ann.memsync("set", "all", "by a shell with the older token", "--layer", "global");
    await waitFor("both", async () => {
      return JSON.stringify(await own(ann)) === '["offline","by a shell with the older token"]';
    });
  }),
);

scenario("a shell without variables writes nothing of one's own beside another's daemon", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    const home = { MEMSYNC_URL: "", MEMSYNC_TOKEN: "" };
    const login = ["login", "--url", mine.url, "--token-stdin"];
    expect((await ann.run(login, { stdin: mine.token, env: home })).status).toBe(0);
    ann.service = { url: mine.url, token: await folder.token("acme", "--user", "bob") };
    await ann.up();
    await waitFor("the refusal", async () => {
      return (await ann.status()).service.code === "token-of-another";
    });
    const before = await own(ann);
    for (const args of [
      ["set", "me", "of bob", "--layer", "user"],
      ["set", "new", "of bob", "--layer", "global", "--yes"],
      ["rm", "me", "--layer", "user", "--yes"],
      ["move", "ours", "--layer", "global", "--yes"],
    ]) {
      const { status, stderr } = await ann.run(args, { env: home });
      const said = expect.stringMatching(/nothing in (user|global) was changed, .* are ann's/s);
      expect([args, status, stderr]).toEqual([args, 1, said]);
    }
    const assistant = await Assistant.start(ann, { env: home });
    const remembered = { key: "me", value: "of a program", layer: "user" };
    const { isError, text } = await assistant.call("remember", remembered);
    await assistant.end();
    expect([isError, text]).toEqual([true, expect.stringContaining("nothing in user was changed")]);
    expect(await own(ann)).toEqual(before);
    await ann.memsyncWith({ env: home }, "set", "more", "of the project");
    // One who says by a token that it is ann's is ann.
    const env = { MEMSYNC_TOKEN: mine.token };
    await ann.memsyncWith({ env }, "set", "me", "of ann again", "--layer", "user");
    await waitFor("hers", async () => (await own(ann)).includes("of ann again"));
  }),
);

scenario("a block's lines that came while a daemon ran for another are asked about", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    const file = join(ann.environment().HOME ?? "", ".claude", "CLAUDE.md");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "# mine\n");
    await ann.up();
    await ann.memsync("personal", "on", "claude", "--yes");
    const block = () => readFileSync(file, "utf8");
    await waitFor("the block", async () => block().includes("memsync:personal end"));
    const write = (line: string) =>
      writeFileSync(file, block().replace("<!-- memsync:personal end", `- ${line}\n$&`));
    write("a rule of ann");
    const text = () => ann.run(["get", "personal/instructions", "--layer", "user"]);
    await waitFor("her rule", async () => (await text()).stdout.includes("a rule of ann"));
    await ann.down();
    ann.service = { url: mine.url, token: await folder.token("acme", "--user", "bob") };
    await ann.up();
    const state = async () => (await ann.status()).personal.files[0]?.code;
    await waitFor("it to be told", async () => (await state()) === "personal-of-another");
    write("a rule of bob");
    await ann.memsync("sync", "--wait", "0").catch(() => undefined);
    expect((await text()).stdout).not.toContain("bob");
    await ann.down();
    ann.service = mine;
    await ann.up();
    await waitFor("the question", async () => (await state()) === "personal-found");
    expect((await text()).stdout).not.toContain("bob");
    expect(block()).toContain("a rule of bob");
  }),
);

scenario("another account under another address gets nothing, and is told with both names", (lab) =>
  withAnn(lab, async ({ ann, mine }) => {
    await using zoo = await ServerFolder.create();
    const theirs = await zoo.token("zoo", "--user", "cat");
    const server = await zoo.server();
    const cat = lab.machine("cat", lab.git.path("folder-cat"), {
      url: server.url,
      token: theirs,
    });
    mkdirSync(cat.folder, { recursive: true });
    const why = /MEMSYNC_TOKEN is cat's of the account zoo at .* is ann's of the account acme at/;
    ann.service = { url: server.url, token: theirs };
    await ann.up();
    await waitFor("the refusal", async () => {
      return why.test((await ann.memsync("status")).replaceAll(/\s+/g, " "));
    });
    await expectRefused(ann, why);
    expect((await ann.run(["set", "x", "y", "--layer", "user"])).status).toBe(1);
    await ann.down();
    await cat.up();
    await cat.untilSynced();
    expect(await cat.list()).toEqual([]);
    expect(JSON.stringify(await cat.ask("GET", "/v1/projects"))).not.toContain("folder-ann");
    ann.service = mine;
    await ann.up();
    await ann.untilSynced();
    expect(await own(ann)).toEqual(["of ann", "of acme"]);
  }),
);

scenario("nothing is forgotten before a service under another address was asked", (lab) =>
  withAnn(lab, async ({ ann, folder, server, mine }) => {
    ann.service = { url: "http://127.0.0.1:9", token: mine.token };
    await ann.up();
    await expectRefused(ann, /its MEMSYNC_URL is another than the home's service until now/);
    await ann.down();
    // The same service, whose port is another one now.
    await server.process.end("SIGTERM");
    const moved = await folder.server();
    ann.service = { url: moved.url, token: mine.token };
    await ann.up();
    await ann.memsync("set", "me", "later", "--layer", "user");
    await ann.untilSynced();
    expect(await own(ann)).toEqual(["later", "of acme"]);
  }),
);

scenario("a login binds to the former service what came while its address was not named", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    ann.service = undefined;
    await ann.up();
    await ann.memsync("set", "later", "without an address", "--layer", "user");
    const login = (token: string) =>
      ann.run(["login", "--url", mine.url, "--token-stdin"], { stdin: token });
    const bob = await login(await folder.token("acme", "--user", "bob"));
    expect([bob.status, bob.stderr]).toEqual([1, expect.stringMatching(/is bob's, .* are ann's/)]);
    expect((await ann.status()).remotes.map(({ name }) => name)).toEqual(["embedded"]);
    const { status, stdout } = await login(mine.token);
    expect([status, stdout]).toEqual([0, expect.stringContaining("1 project is bound to it")]);
    expect(stdout).not.toContain("stay");
    await ann.sync();
    const other = lab.machine("other", lab.git.path("folder-other"), mine);
    mkdirSync(other.folder, { recursive: true });
    await other.up();
    await other.untilSynced();
    expect((await own(other)).toSorted()).toEqual(["of acme", "of ann", "without an address"]);
  }),
);

scenario("a block's lines wait until a new token is heard to be the user's", (lab) =>
  withAnn(lab, async ({ ann, folder, server, mine }) => {
    const file = join(ann.environment().HOME ?? "", ".claude", "CLAUDE.md");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "# mine\n");
    await ann.up();
    await ann.memsync("personal", "on", "claude", "--yes");
    const block = () => readFileSync(file, "utf8");
    await waitFor("the block", async () => block().includes("memsync:personal end"));
    await ann.down();
    writeFileSync(file, block().replace("<!-- memsync:personal end", "- while it was down\n$&"));
    ann.service = { url: mine.url, token: await folder.token("acme", "--user", "ann") };
    await server.process.end("SIGTERM");
    await ann.up();
    const files = async () => (await ann.status()).personal.files;
    await waitFor("it to be told", async () => (await files())[0]?.code === "personal-unheard");
    const program = { content: "of a program", layer: "user", key: "me" };
    expect((await ann.gateway("POST", "/v1/memories", program)).status).toBe(403);
    const offline = await ann.run(["sync", "--wait", "0"]);
    expect([offline.status, offline.stderr]).toEqual([1, expect.stringContaining("CLAUDE.md")]);
    await folder.server("--port", String(server.port));
    await ann.untilSynced();
    expect(await files()).toMatchObject([{ state: "current", code: null }]);
    await ann.ask("POST", "/v1/memories", program);
    const texts = (await own(ann)).join();
    expect(texts).toContain("while it was down");
    expect(texts).toContain("of a program");
  }),
);

/** Everything of the layer `user` at a service. */
async function userAt(url: string, token: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/v1/memories?layer=user`, { headers });
  return ((await answer.json()) as { memories: unknown }).memories;
}

for (const how of ["by --url", "by MEMSYNC_URL", "by --url after a start without it"]) {
  scenario(`a first login under the name that memsync gives is compared, too, ${how}`, (lab) =>
    withAnn(lab, async ({ ann, folder, mine }) => {
      const stdin = await folder.token("acme", "--user", "bob");
      const name = new URL(mine.url).host.replace(":", "-");
      const isByVariable = how === "by MEMSYNC_URL";
      const url = isByVariable ? [] : ["--url", mine.url];
      ann.service = undefined;
      ann.variables = isByVariable ? { MEMSYNC_URL: mine.url } : {};
      if (how.includes("start")) await ann.up();
      const login = ["login", ...url, "--remote", name, "--token-stdin"];
      const { status, stderr } = await ann.run(login, { stdin });
      expect([status, stderr]).toEqual([1, expect.stringMatching(/is bob's, .* are ann's/)]);
      expect(await userAt(mine.url, stdin)).toEqual([]);
    }),
  );
}

scenario("a login under another name after a start without an address leaves what is here", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    const stdin = await folder.token("acme", "--user", "bob");
    const name = new URL(mine.url).host.replace(":", "-");
    ann.service = undefined;
    await ann.up();
    await ann.memsync("set", "later", "without an address", "--layer", "user");
    const login = (token: string, ...args: readonly string[]) =>
      ann.run(["login", ...args, "--token-stdin"], { stdin: token });
    const bob = await login(stdin, "--url", mine.url, "--remote", "bob");
    expect([bob.status, bob.stdout]).toEqual([0, expect.not.stringContaining("--move")]);
    const moved = await login(stdin, "--remote", "bob", "--move", "--yes");
    expect(moved.stdout).not.toContain("moved");
    await ann.memsync("sync", "--wait", "5").catch(() => undefined);
    expect(await userAt(mine.url, stdin)).toEqual([]);
    // Without a name, her token means hers.
    const { status, stdout } = await login(mine.token, "--url", mine.url);
    expect([status, stdout]).toEqual([0, expect.stringContaining(`logged in to ${name} `)]);
    await ann.sync();
    expect(await userAt(mine.url, stdin)).toEqual([]);
    const other = lab.machine("other", lab.git.path("folder-other"), mine);
    mkdirSync(other.folder, { recursive: true });
    await other.up();
    await other.untilSynced();
    expect((await own(other)).toSorted()).toEqual(["of acme", "of ann", "without an address"]);
  }),
);

scenario("what the embedded service has of one is moved to another by a word for it alone", (lab) =>
  withAnn(lab, async ({ ann, folder, mine }) => {
    const stdin = await folder.token("acme", "--user", "bob");
    ann.service = undefined;
    await ann.up();
    await ann.memsync("remote", "rm", new URL(mine.url).host.replace(":", "-"));
    const login = (token: string, ...args: readonly string[]) =>
      ann.run(["login", ...args, "--token-stdin"], { stdin: token });
    const whose = "what is at embedded is ann's of the account acme, and bob is bob's";
    const way = `\`memsync login --url ${mine.url} --remote NAME --move\` with a token of ann`;
    const plain = await login(stdin, "--url", mine.url, "--remote", "bob");
    expect([plain.status, plain.stdout]).toEqual([0, expect.stringContaining(way)]);
    expect(plain.stdout).not.toContain("--of-another");
    const refused = await login(stdin, "--remote", "bob", "--move", "--yes");
    expect(refused.stderr).toContain(whose);
    expect(refused.stderr).toContain(`${way} moves it, and --of-another moves it to bob`);
    const link = await ann.run(["link", "--remote", "bob"]);
    expect([link.status, link.stderr]).toEqual([1, expect.stringContaining(whose)]);
    expect(await ann.memsync("status")).not.toContain("--remote bob --move");
    await ann.down();
    expect((await ann.run(["status"])).stdout).not.toContain("--remote bob --move");
    await ann.up();
    await ann.memsync("sync", "--wait", "5").catch(() => undefined);
    expect(await userAt(mine.url, stdin)).toEqual([]);
    // Done as it says.
    const moved = await login(mine.token, "--url", mine.url, "--remote", "ann", "--move", "--yes");
    expect(moved.stdout).toContain("moved 1 memory of the layer user");
    expect(moved.stdout).toContain("nothing stays in the embedded service");
    await ann.memsync("sync", "--wait", "20");
    expect(await userAt(mine.url, stdin)).toEqual([]);
    const other = lab.machine("other", lab.git.path("folder-other"), mine);
    mkdirSync(other.folder, { recursive: true });
    await other.up();
    await other.untilSynced();
    expect((await own(other)).toSorted()).toEqual(["of acme", "of ann"]);
    // Somebody who says so has it moved.
    const agreed = await ann.run(["link", "--remote", "bob", "--of-another"]);
    expect([agreed.status, agreed.stdout]).toEqual([0, expect.stringContaining("bound to bob")]);
  }),
);
