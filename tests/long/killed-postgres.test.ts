import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { encodeSubscribe, parseServerFrame } from "../../shared/wire/live.ts";
import type { Position } from "../../shared/wire/position.ts";
import { connectLive } from "../support/live-client.ts";
import { endWithThisProcess } from "../support/postgres-cluster.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { openWay } from "../support/postgres-way.ts";
import { ServerFolder } from "../support/server-process.ts";
import { startPostgres } from "../support/start-postgres.ts";
import { waitFor } from "../support/wait-for.ts";
import { Audit } from "../trust/servers/audit.ts";
import { Ledger } from "../trust/servers/ledger.ts";

const TIMEOUT_MS = 240_000;

/** Where in a write SIGKILL comes, and what may have become of the write by then. */
const STEPS = [
  ["before it gets the BEGIN", "BEGIN", "before", "nothing"],
  ["as it gets the BEGIN", "BEGIN", "after", "nothing"],
  ["before it gets the rows", "INSERT INTO updates", "before", "nothing"],
  ["as it gets the rows", "INSERT INTO updates", "after", "nothing"],
  ["before it gets the COMMIT", "COMMIT", "before", "nothing"],
  ["as it gets the COMMIT", "COMMIT", "after", "unknown"],
  ["after its COMMIT, of which nobody is told", "COMMIT", "done", "saved"],
] as const;

/** A live socket, and up to where it knows the account's layer. */
async function listenAt(url: string, token: string) {
  const client = await connectLive(url, token);
  client.send(encodeSubscribe([]));
  const socket = {
    position: undefined as Position | undefined,
    ended: undefined as string | undefined,
  };
  void (async () => {
    for (;;) {
      const frame = parseServerFrame(JSON.stringify(await client.next()));
      if (frame?.type === "subscribed") socket.position = frame.positions.get("global");
      if (frame?.type !== "changed" || frame.document !== "global") continue;
      socket.position = { epoch: frame.epoch, seq: frame.seq };
    }
  })().catch(() => {});
  void client.closed.then(({ reason }) => {
    socket.ended = reason;
  });
  await waitFor("a subscription", () => socket.position !== undefined);
  return socket;
}

/** Two servers on a PostgreSQL of their own; `here` is the one whose statements can be watched. */
async function openScene() {
  const postgres = await startPostgres();
  endWithThisProcess(postgres.folder);
  await runOnPostgres(postgres.address, "CREATE DATABASE memsync TEMPLATE template0");
  const address = Object.assign(new URL(postgres.address), { pathname: "/memsync" }).href;
  const way = await openWay(address);
  const folders = [
    await ServerFolder.create("bun", way.address),
    await ServerFolder.create("bun", address),
  ] as const;
  const [token, other] = [await folders[1].token(), await folders[1].token("umbrella")];
  const [here, there] = [await folders[0].server(), await folders[1].server()];
  const write = async (url: string, content: string, { by = token, once = content } = {}) => {
    const answer = await fetch(`${url}/v1/memories`, {
      method: "POST",
      headers: { Authorization: `Bearer ${by}`, "Idempotency-Key": once },
      body: JSON.stringify({ content, layer: "global" }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    postgres,
    address,
    way,
    urls: [here.url, there.url],
    token,
    write,
    /** Writes of another account at the other server until it is ended; those it acknowledged. */
    beginLoad(name: string) {
      const saved: string[] = [];
      let isOver = false;
      const load = (async () => {
        for (let at = 0; !isOver; at++) {
          const content = `${name} ${at}`;
          const isSaved = async () =>
            (await write(there.url, content, { by: other })).status === 200;
          await waitFor("a write of the load", async () => {
            if (await isSaved()) saved.push(content);
            return isOver || saved.includes(content);
          });
        }
      })();
      return {
        saved,
        async end() {
          isOver = true;
          await load;
          return saved;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const each of folders) await each[Symbol.asyncDispose]();
      way.close();
      process.kill(postgres.pid, "SIGQUIT");
      rmSync(postgres.folder, { recursive: true, force: true });
    },
  };
}

const contentsIn = async (address: string): Promise<string[]> =>
  (await runOnPostgres(address, "SELECT value FROM memories")).map(({ value }) => String(value));

test.each([
  ["one of PostgreSQL's processes", false],
  ["PostgreSQL itself", true],
])(
  "SIGKILL of %s at each step of a write loses nothing, and leaves a write whole or not at all",
  async (_, isAll) => {
    await using scene = await openScene();
    const { postgres, address, way, token, write } = scene;
    const [here = "", there = ""] = scene.urls;
    const ledger = new Ledger();
    const audit = new Audit(ledger);
    const [saved, loaded] = [new Set<string>(), new Set<string>()];
    const kill = async (pid: number) => process.kill(isAll ? postgres.pid : pid, "SIGKILL");
    const backAgain = async () => {
      if (isAll) {
        // Its processes end by themselves, and not at once.
        await waitFor("PostgreSQL to start again", () => postgres.startAgain().then(() => true));
      }
      await waitFor("PostgreSQL to be back", () => contentsIn(address));
    };
    expect((await write(here, "first")).status).toBe(200);
    saved.add("first");
    let sockets = await Promise.all(scene.urls.map((url) => listenAt(url, token)));

    for (const [step, statement, when, outcome] of STEPS) {
      const load = scene.beginLoad(`load ${step}`);
      await waitFor("a load", () => load.saved.length > 2);
      let killed: Promise<unknown> | undefined;
      const killAt = (on?: { readonly pid: number }) =>
        way.watch.for(
          statement,
          when,
          ({ pid }) => {
            killed = kill(pid);
          },
          on,
        );
      if (statement === "COMMIT") way.watch.for("INSERT INTO updates", "after", killAt);
      else killAt();
      const { status, text } = await write(here, step);
      await waitFor("a kill", () => killed);
      await backAgain();
      await waitFor(
        "writes to go on",
        async () => (await write(there, `${step} over`)).status === 200,
      );
      for (const each of await load.end()) loaded.add(each);
      saved.add(`${step} over`);

      const found = await contentsIn(address);
      const isSaved = found.includes(step);
      if (status === 200) expect([step, isSaved]).toEqual([step, true]);
      else if (outcome === "nothing") expect([step, isSaved]).toEqual([step, false]);
      else expect([step, text]).toEqual([step, expect.stringContaining("is not known")]);
      if (outcome === "saved") expect([step, status, isSaved]).toEqual([step, 500, true]);
      const [kept] = await runOnPostgres(
        address,
        `SELECT count(*)::int AS answers FROM kept_answers WHERE key = '${step}'`,
      );
      expect([step, kept?.answers]).toEqual([step, isSaved ? 1 : 0]);

      // Whoever does not know calls again, anywhere, under the same key.
      const again = await Promise.all([write(there, step), write(here, step)]);
      if (status === 200) again.push({ status, text });
      expect([step, again.map((each) => each.status)]).toEqual([step, again.map(() => 200)]);
      expect([step, new Set(again.map((each) => each.text)).size]).toEqual([step, 1]);
      saved.add(step);
      const all = await contentsIn(address);
      const [others, own] = [true, false].map((isLoad) =>
        all.filter((each) => each.startsWith("load") === isLoad).sort(),
      );
      expect([step, own]).toEqual([step, [...saved].sort()]);
      expect([step, [...loaded].filter((each) => !all.includes(each))]).toEqual([step, []]);
      expect([step, new Set(others).size]).toEqual([step, others?.length ?? 0]);

      const { head } = await audit.look(address);
      expect([step, ledger.problems]).toEqual([step, []]);
      const isTold = ({ position, ended }: (typeof sockets)[number]) =>
        ended !== undefined || (position?.epoch === head.epoch && position.seq === head.seq);
      await waitFor(`the sockets to be told: ${step}`, () => sockets.every(isTold));
      // What was acknowledged may be lost only where PostgreSQL has started. A server also ends a
      // socket whose token it can't look at just now.
      const isOther = sockets.some(({ ended }) => ended === "the database is another one");
      expect([step, isOther]).toEqual([step, isAll]);
      const listening = sockets.map((each, at) =>
        each.ended === undefined ? each : listenAt(scene.urls[at] ?? "", token),
      );
      sockets = await Promise.all(listening);
    }
    expect(audit.epochs).toBe(isAll ? 1 + STEPS.length : 1);
  },
  TIMEOUT_MS,
);
