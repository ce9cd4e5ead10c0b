// `npm run demo:cluster`: three servers on one PostgreSQL behind a balancer, and two machines that
// edit one file. One of the servers is killed meanwhile, and nobody loses a line. Everything is in
// folders of its own, and is gone at the end.
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DemoMachine } from "../cli/demo/demo-machine.ts";
import { postgresCluster } from "../tests/support/postgres-cluster.ts";
import { pick } from "../tests/support/random.ts";
import { type RunningServer, ServerFolder } from "../tests/support/server-process.ts";
import { waitFor } from "../tests/support/wait-for.ts";

const SERVERS = 3;
const EDITS = 8;
const KILLED_AT = 3;

interface Balancer {
  readonly url: string;
  /** Calls that a server has got and not answered, by the server's port. */
  readonly underWay: ReadonlyMap<Socket, number>;
  readonly close: () => void;
}

/** Passes each connection on to one of the servers that answer, as any balancer would. */
function balance(ports: ReadonlySet<number>): Promise<Balancer> {
  const open = new Set<Socket>();
  const underWay = new Map<Socket, number>();
  const balancer = createServer((client) => {
    const port = pick(Math.random, [...ports]);
    const server = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    client.on("data", (data) => {
      if (data.toString("latin1", 0, 5) === "POST ") underWay.set(client, port);
    });
    server.on("data", () => underWay.delete(client));
    client.on("close", () => underWay.delete(client));
  });
  return new Promise((resolve) => {
    balancer.listen(0, "127.0.0.1", () => {
      const address = balancer.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const close = () => {
        balancer.close();
        for (const socket of open) socket.destroy();
      };
      resolve({ url: `http://127.0.0.1:${port}`, underWay, close });
    });
  });
}

const startedAt = performance.now();

function tell(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
  process.stdout.write(`${seconds} s  ${text}\n`);
}

const machines: DemoMachine[] = [];
const root = await mkdtemp(join(tmpdir(), "memsync-cluster-"));
const address = await (await postgresCluster()).createDatabase();
tell("a PostgreSQL with an empty database");
const folder = await ServerFolder.create("bun", address);
const token = await folder.token();
const servers: RunningServer[] = await Promise.all(
  Array.from({ length: SERVERS }, () => folder.server()),
);
const ports = new Set(servers.map(({ port }) => port));
const balancer = await balance(ports);
tell(`${SERVERS} servers on it, ports ${[...ports].join(", ")}, and a balancer at ${balancer.url}`);
try {
  for (const name of ["laptop", "desktop"]) {
    machines.push(await DemoMachine.start(root, name, { url: balancer.url, token }));
  }
  const [laptop, desktop] = machines;
  if (!laptop || !desktop) throw new Error("both have been started");
  const written: string[] = [];
  const areEqual = async () => {
    await Promise.all(machines.map((each) => each.sync()));
    const [one, other] = await Promise.all([laptop.lines(), desktop.lines()]);
    return isDeepStrictEqual(one, other) && written.every((line) => one.includes(line));
  };
  const write = async (machine: DemoMachine, line: string) => {
    const lines = await machine.lines();
    await machine.save(`${[...lines, line].join("\n")}\n`);
    written.push(line);
  };
  /** Ends a server as soon as it has got a call, before that is answered. */
  const killAtCall = async () => {
    const port = await waitFor("a call", () => [...balancer.underWay.values()][0], 30_000, 0);
    ports.delete(port);
    const ended = servers.find((each) => each.port === port)?.process.end("SIGKILL");
    tell(`the server at port ${port} is killed, with SIGKILL, in the middle of a call`);
    await ended;
  };
  await write(laptop, "# Shop");
  await waitFor("the file to reach the desktop", areEqual);
  tell("two machines with one file, each call to another server");
  for (let edit = 1; edit <= EDITS; edit++) {
    const killing = edit === KILLED_AT ? killAtCall() : undefined;
    for (const machine of machines) {
      await write(machine, `- Rule ${edit} of the ${machine.name}.`);
      await waitFor("the save to be read", () => machine.isSaved());
    }
    tell(`edit ${edit} of ${EDITS} on both machines`);
    await killing;
    // The next edit comes when this one is everywhere, so that each of them is synced by itself.
    await waitFor("both machines to have it", areEqual);
  }
  await waitFor("both machines to be equal", areEqual);
  const lines = await laptop.lines();
  tell(`both have all ${written.length} lines, and no other: ${lines.length} in the file`);
} finally {
  for (const machine of machines) await machine.stop();
  balancer.close();
  await folder[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
}
// The PostgreSQL ends with this process.
process.exit();
