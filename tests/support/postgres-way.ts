import { connect, createServer, type Server } from "node:net";

/** What is to be done as a statement comes by: before the database gets it, or with that. */
interface Watched {
  readonly statement: string;
  readonly when: "before" | "after";
  readonly callback: () => void;
}

/**
 * A way to the database at a local `address`, which can be cut, or swallow everything; also as a
 * statement comes by.
 */
export async function openWay(address: string) {
  let leadsTo = address;
  let isCut = false;
  let isHushed = false;
  let watched: Watched | undefined;
  const statements = new Statements();
  const pass = (data: Buffer, send: () => void) => {
    const met = statements.areIn(data, watched?.statement) ? watched : undefined;
    if (met) watched = undefined;
    if (met?.when === "before") met.callback();
    if (!isHushed) send();
    if (met?.when === "after") met.callback();
  };
  const open = new Set<{ destroy(): void }>();
  const forgotten = new WeakSet<object>();
  // Who is silent does not answer the end of a connection either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const { port, searchParams } = new URL(leadsTo);
    const socket = `${searchParams.get("host")}/.s.PGSQL.${port || 5432}`;
    const database = connect({ path: socket, allowHalfOpen: true });
    for (const each of [client, database]) {
      open.add(each);
      each.on("error", () => {});
      each.on("close", () => open.delete(each));
    }
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on("data", (data: Buffer) => {
        const send = () => void to.write(data);
        if (forgotten.has(from)) client.destroy();
        else if (from === client) pass(data, send);
        else if (!isHushed) send();
      });
      from.on("end", () => isHushed || to.end());
      from.on("close", () => isHushed || to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: byPort(address, portOf(server)),
    get leadsTo() {
      return leadsTo;
    },
    /** To another server from now on, as an address that follows the primary. */
    lead(to: string) {
      leadsTo = to;
      for (const each of open) each.destroy();
    },
    cut() {
      isCut = true;
      for (const each of open) each.destroy();
    },
    /** As by a firewall: connections seem to be there until somebody uses them. */
    forget() {
      for (const each of open) forgotten.add(each);
    },
    get isHushed() {
      return isHushed;
    },
    hush() {
      isHushed = true;
    },
    /** Calls back once, before the next statement that begins so goes on, or as soon as it has. */
    watch(statement: string, when: Watched["when"], callback: () => void) {
      watched = { statement, when, callback };
    },
    /** What was swallowed stays lost. */
    mend() {
      if (isHushed) for (const each of open) each.destroy();
      isCut = false;
      isHushed = false;
    },
    close: () => server.close(),
  };
}

/** The names under which a server prepares its statements: the same on all of its connections. */
class Statements {
  readonly #texts = new Map<string, string>();

  /** Whether a packet has a statement that begins so. */
  areIn(data: Buffer, wanted: string | undefined): boolean {
    const packet = data.toString("latin1");
    for (const [, name = "", text = ""] of packet.matchAll(/(memsync_\d+)\0([^\0]+)\0/g)) {
      this.#texts.set(name, text);
    }
    if (wanted === undefined) return false;
    const alike = [...this.#texts].filter(([, text]) => text.startsWith(wanted));
    return alike.some(([name]) => packet.includes(`${name}\0`));
  }
}

/** The same database, at a port of this machine. */
function byPort(address: string, port: number): string {
  const url = new URL(address);
  url.search = "";
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
