import { expect } from "bun:test";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { ServerFolder } from "../support/server-process.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

/** Another address of a service, which keeps whose calls came to it. */
async function addressOf(target: string) {
  const tokens: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(Number(new URL(target).port), "127.0.0.1");
    from.on("data", (bytes) => {
      for (const [, token = ""] of bytes.toString("latin1").matchAll(/Bearer (mst_\w+)/g)) {
        tokens.push(token);
      }
    });
    for (const socket of [from, to]) open.add(socket.on("error", () => socket.destroy()));
    from.pipe(to).pipe(from);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tokens,
    [Symbol.dispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

interface Given {
  readonly ann: Machine;
  /** Another machine of ann's, which stays at the former address. */
  readonly other: Machine;
  readonly former: Awaited<ReturnType<typeof addressOf>>;
  /** The address that the service has now. */
  readonly url: string;
  readonly token: string;
  readonly tokenOf: (account: string, user: string) => Promise<string>;
  readonly login: (token: string, ...args: string[]) => ReturnType<Machine["run"]>;
}

async function withMoved(lab: Lab, work: (given: Given) => Promise<void>): Promise<void> {
  await using folder = await ServerFolder.create();
  const tokenOf = (account: string, user: string) => folder.token(account, "--user", user);
  const token = await tokenOf("acme", "ann");
  const { url } = await folder.server();
  using former = await addressOf(url);
  const made = (name: string, service: Machine["service"]) => {
    const dir = lab.git.path(`folder-${name}`);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "CLAUDE.md"), "# Rules\n");
    return lab.machine(name, dir, service);
  };
  const other = made("other", { url: former.url, token: await tokenOf("acme", "ann") });
  const ann = made("ann", { url: former.url, token });
  const login = (stdin: string, ...args: string[]) =>
    ann.run(["login", ...args, "--token-stdin"], { stdin });
  await work({ ann, other, former, url, token, tokenOf, login });
}

/** Synced, and told by its service whose it is. */
async function untilKnown(machine: Machine): Promise<void> {
  await machine.untilSynced();
  await waitFor("the service to say whose the token is", async () => {
    return (await machine.status()).remotes[0]?.audience?.account === "acme";
  });
}

const own = async (machine: Machine) =>
  (await machine.list()).filter(({ layer }) => layer !== "project").map(({ value }) => value);

const addresses = async ({ ann }: Given) =>
  (JSON.parse(await ann.memsync("remote", "list", "--json")) as { name: string; url: string }[])
    .filter((each) => each.url !== null)
    .map((each) => `${each.name} ${each.url}`);

scenario("a login by its name takes a remote to another address of its service", (lab) =>
  withMoved(lab, async (given) => {
    const { ann, other, former, url, token, tokenOf, login } = given;
    ann.service = undefined;
    expect((await login(token, "--url", former.url, "--remote", "work")).status).toBe(0);
    await ann.up(ann.folder);
    await ann.memsync("set", "me", "of ann", "--layer", "user");
    await ann.memsync("set", "all", "of acme", "--layer", "global", "--yes");
    await ann.memsync("set", "ours", "of the project");
    await ann.sync();
    await ann.down();
    await other.up();
    await other.memsync("set", "me", "newer", "--layer", "user");
    await other.untilSynced();
    await ann.memsync("set", "late", "while it was down", "--layer", "user");
    const move = ["--url", url, "--remote", "work"];
    const way = `\`memsync login --url ${url} --remote work\``;
    for (const isUp of [false, true]) {
      if (isUp) await ann.up();
      const unasked = await login(token, ...move);
      const both =
        `work is at ${former.url} (ann's of the account acme), and this token is for ${url} ` +
        "(ann's of the account acme). Is it the same service, at another address?";
      expect([unasked.status, unasked.stderr]).toEqual([1, expect.stringContaining(both)]);
      for (const [account, user] of [
        ["acme", "bob"],
        ["zoo", "ann"],
      ] as const) {
        const theirs = await login(await tokenOf(account, user), ...move, "--yes");
        const why = `${url} (${user}'s of the account ${account}): give a token of ann`;
        expect([theirs.status, theirs.stderr]).toEqual([1, expect.stringContaining(why)]);
      }
      for (const args of [
        ["remote", "add", "work", url],
        ["remote", "rm", "work"],
      ]) {
        const { status, stderr } = await ann.run(args);
        const named = args[1] === "add" ? way : "`memsync login --url URL --remote work`";
        expect([status, stderr]).toEqual([1, expect.stringContaining(named)]);
      }
      expect(await addresses(given)).toEqual([`work ${former.url}`]);
    }
    // The plain form makes another one, and names the way.
    const plain = await login(token, "--url", url);
    expect(plain.stdout).toContain(`if it is the same service at another address, ${way}`);
    await ann.down();
    const before = former.tokens.length;
    const moved = await login(token, ...move, "--yes");
    expect([moved.status, moved.stdout]).toEqual([
      0,
      expect.stringContaining("1 project is bound"),
    ]);
    expect(moved.stdout).not.toContain("stay");
    expect(await addresses(given)).toContain(`work ${url}`);
    await ann.up();
    await ann.sync();
    await ann.memsync("set", "later", "at the new address", "--layer", "user");
    await ann.sync();
    expect(former.tokens.slice(before)).not.toContain(token);
    expect((await ann.status()).remotes.find((each) => each.default)?.name).toBe("work");
    const all = ["at the new address", "newer", "of acme", "while it was down"];
    await other.sync();
    expect((await own(other)).toSorted()).toEqual(all);
    expect((await own(ann)).toSorted()).toEqual(all);
    expect(await ann.memsync("get", "ours")).toContain("of the project");
    expect(JSON.parse(await ann.memsync("conflicts", "--json"))).toEqual([]);
  }),
);

scenario("a running daemon goes to the other address at once", (lab) =>
  withMoved(lab, async (given) => {
    const { ann, other, former, url, token, login } = given;
    ann.service = undefined;
    await login(token, "--url", former.url, "--remote", "work");
    await ann.up(ann.folder);
    await ann.memsync("set", "me", "of ann", "--layer", "user");
    await ann.sync();
    const moved = await login(token, "--url", url, "--remote", "work", "--yes");
    expect(moved.status).toBe(0);
    const before = former.tokens.length;
    await ann.memsync("set", "me", "later", "--layer", "user");
    await ann.sync();
    expect(former.tokens.slice(before)).toEqual([]);
    await other.up();
    await other.untilSynced();
    expect(await own(other)).toEqual(["later"]);
  }),
);

scenario("a home that forgot its variable goes to the other address without a conflict", (lab) =>
  withMoved(lab, async (given) => {
    const { ann, other, former, url, token, login } = given;
    await ann.up(ann.folder);
    await ann.memsync("set", "me", "older", "--layer", "user");
    await untilKnown(ann);
    await ann.down();
    await other.up();
    await other.memsync("set", "me", "newer", "--layer", "user");
    await other.untilSynced();
    ann.service = undefined;
    await ann.up();
    await ann.memsync("set", "late", "without an address", "--layer", "user");
    const name = new URL(former.url).host.replace(":", "-");
    const way = `\`memsync login --url ${url} --remote ${name}\``;
    const plain = await login(token, "--url", url);
    expect(plain.stdout).toContain(`stay at ${name} (${former.url}), which has no token here: if`);
    expect(plain.stdout).toContain(way);
    expect((await login(token, "--url", url, "--remote", name, "--yes")).status).toBe(0);
    await ann.sync();
    const listed = await ann.list("--remote", name);
    const values = listed.filter(({ layer }) => layer === "user").map(({ value }) => value);
    expect(values.toSorted()).toEqual(["newer", "without an address"]);
    expect(JSON.parse(await ann.memsync("conflicts", "--json"))).toEqual([]);
  }),
);

scenario("a first login under another name says what stays at a service without a token", (lab) =>
  withMoved(lab, async (given) => {
    const { ann, former, token, login } = given;
    await ann.up(ann.folder);
    await ann.memsync("set", "me", "of ann", "--layer", "user");
    await untilKnown(ann);
    await ann.down();
    ann.service = undefined;
    const name = new URL(former.url).host.replace(":", "-");
    const { stdout } = await login(token, "--url", former.url, "--remote", "work");
    expect(stdout).toContain(
      `1 project and 1 memory of the layer user stay at ${name} (${former.url}), which has no ` +
        `token here: \`memsync login --remote ${name}\` gives it one`,
    );
    const again = await login(token, "--remote", "work");
    expect(again.stdout).not.toContain("stay at");
    const moved = await login(token, "--remote", "work", "--move");
    expect(moved.stdout).toContain("nothing is in the embedded service");
  }),
);

scenario(
  "at a terminal one question names both addresses, and only a yes goes on",
  (lab) =>
    withMoved(lab, async (given) => {
      const { ann, former, url, token, login } = given;
      ann.service = undefined;
      await login(token, "--url", former.url, "--remote", "work");
      for (const [answer, status, at] of [
        ["n", 1, former.url],
        ["y", 0, url],
      ] as const) {
        const args = ["login", "--url", url, "--remote", "work"];
        await using terminal = new TerminalSession(lab, ann, args, { columns: 300 });
        await terminal.untilShown(/The token/);
        terminal.type(`${token}\n`);
        await terminal.untilShown(/work is at \S+ \(ann's .* for \S+ \(ann's .* \[y\/N\]/);
        terminal.type(`${answer}\n`);
        expect(await terminal.ended()).toBe(status);
        expect(await addresses(given)).toEqual([`work ${at}`]);
      }
    }),
  { needs: TERMINALS },
);
