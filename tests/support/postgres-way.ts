import { connect, createServer, type Server } from "node:net";

/** One of the connections that lead over a way. */
interface Passage {
  /** The process of PostgreSQL that serves it; 0 before it has said so. */
  pid: number;
}

/**
 * What is to be done as a statement comes by: before the database gets it, or with that; or as soon
 * as it is done, and nobody has been told.
 */
interface Watched {
  readonly statement: string;
  readonly when: "before" | "after" | "done";
  readonly callback: (passage: Passage) => void;
  /** Only there; anywhere if left out. */
  readonly on?: Passage | undefined;
}

/**
 * A way to the database at a local `address`, which can be cut, or swallow everything; also as a
 * statement comes by.
 */
export async function openWay(address: string) {
  let leadsTo = address;
  let isCut = false;
  let isHushed = false;
  const watch = new Watch();
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
    const passage: Passage = { pid: 0 };
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
        const send = () => isHushed || to.write(data);
        if (forgotten.has(from)) client.destroy();
        else if (from === client) watch.asked(passage, data, send);
        else watch.answered(passage, data, send);
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
    /** Calls back as a statement comes by. */
    watch,
    /** What was swallowed stays lost. */
    mend() {
      if (isHushed) for (const each of open) each.destroy();
      isCut = false;
      isHushed = false;
    },
    close: () => server.close(),
  };
}

/** Looks at what comes by. */
class Watch {
  readonly #statements = new Statements();
  #next: Watched | undefined;

  /** Calls back once, for the next statement that begins so. */
  for(
    statement: string,
    when: Watched["when"],
    callback: Watched["callback"],
    on?: Watched["on"],
  ): void {
    this.#next = { statement, when, callback, on };
  }

  asked(passage: Passage, data: Buffer, send: () => void): void {
    const next = this.#on(passage);
    const isIn = this.#statements.areIn(data, next?.statement);
    const met = isIn && next?.when !== "done" ? next : undefined;
    if (met) this.#next = undefined;
    if (met?.when === "before") met.callback(passage);
    send();
    if (met?.when === "after") met.callback(passage);
  }

  answered(passage: Passage, data: Buffer, send: () => void): void {
    passage.pid ||= pidIn(data);
    const next = this.#on(passage);
    if (next?.when === "done" && data.includes(`${next.statement}\0`)) {
      this.#next = undefined;
      next.callback(passage);
    } else {
      send();
    }
  }

  #on(passage: Passage): Watched | undefined {
    return (this.#next?.on ?? passage) === passage ? this.#next : undefined;
  }
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

/** What a new connection says of its process (BackendKeyData); 0 in any other packet. */
function pidIn(data: Buffer): number {
  const at = data.indexOf("K\0\0\0\f", 0, "latin1");
  return at === -1 ? 0 : data.readInt32BE(at + 5);
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
