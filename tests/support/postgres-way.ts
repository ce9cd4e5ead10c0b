import { connect, createServer, type Server } from "node:net";

/** A way to the database at a local `address`, which can be cut, or swallow everything. */
export async function openWay(address: string) {
  const path = `${new URL(address).searchParams.get("host")}/.s.PGSQL.5432`;
  let isCut = false;
  let isHushed = false;
  const open = new Set<{ destroy(): void }>();
  const forgotten = new WeakSet<object>();
  // Who is silent does not answer the end of a connection either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const database = connect({ path, allowHalfOpen: true });
    for (const each of [client, database]) {
      open.add(each);
      each.on("error", () => {});
      each.on("close", () => open.delete(each));
    }
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on("data", (data) => {
        if (forgotten.has(from)) client.destroy();
        else if (!isHushed) to.write(data);
      });
      from.on("end", () => isHushed || to.end());
      from.on("close", () => isHushed || to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: byPort(address, portOf(server)),
    cut() {
      isCut = true;
      for (const each of open) each.destroy();
    },
    /** As by a firewall: connections seem to be there until somebody uses them. */
    forget() {
      for (const each of open) forgotten.add(each);
    },
    hush() {
      isHushed = true;
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
