import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { createHttpService } from "../../daemon/service/http-service.ts";
import { openLiveConnection } from "../../daemon/service/live-connection.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { openNetworkLink } from "../support/network-link.ts";
import { waitFor } from "../support/wait-for.ts";

const HALF_SILENCE_MS = 35_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A live socket to a service that does or does not answer pings. */
async function openSocket(autoPong: boolean) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", autoPong });
  await once(server, "listening");
  ends.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  let pings = 0;
  server.on("connection", (socket) => {
    socket.on("ping", () => {
      pings += 1;
    });
  });
  const world = createDrivenWorld();
  const seen = { opened: false, closed: "", silences: [] as boolean[] };
  const connection = openLiveConnection({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "token",
    world,
    handlers: {
      opened: () => {
        seen.opened = true;
      },
      frame: () => {},
      silent: (isSilent) => {
        seen.silences.push(isSilent);
      },
      closed: (message) => {
        seen.closed = message;
      },
    },
  });
  ends.push(() => connection.close());
  await waitFor("the socket to be open", () => seen.opened);
  return { world, seen, server, pings: () => pings };
}

test("a live socket from which nothing comes is pinged, and dropped when nothing comes of that", async () => {
  const { world, seen, pings } = await openSocket(false);
  world.advance(HALF_SILENCE_MS);
  await waitFor("a ping", () => pings() === 1);
  expect([seen.closed, seen.silences]).toEqual(["", [true]]);
  world.advance(HALF_SILENCE_MS);
  expect(seen.closed).toBe("nothing came for too long");
});

test("a live socket whose service answers pings stays", async () => {
  const { world, seen, pings } = await openSocket(true);
  for (let round = 1; round <= 4; round++) {
    world.advance(HALF_SILENCE_MS);
    await waitFor("a ping", () => pings() === round);
    // The answer sets the next ping's time anew: until then the drop is what waits.
    await waitFor("its answer", () => {
      world.advance(1);
      return world.nextTimerInMs() > HALF_SILENCE_MS - 5000;
    });
    expect(seen.silences.splice(0)).toEqual([true, false]);
  }
  expect(seen.closed).toBe("");
});

test("the service's own pings are signs of life", async () => {
  const { world, seen, server, pings } = await openSocket(false);
  for (let round = 0; round < 4; round++) {
    world.advance(HALF_SILENCE_MS - 1000);
    for (const client of server.clients) client.ping();
    await waitFor("the ping to be heard", () => world.nextTimerInMs() === HALF_SILENCE_MS);
  }
  expect([seen.closed, seen.silences, pings()]).toEqual(["", [], 0]);
});

test("connections that lead nowhere are given up at once, and the next call takes a new one", async () => {
  let stalled = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ fine: true }),
  });
  ends.push(() => server.stop(true));
  const link = await openNetworkLink(`http://127.0.0.1:${server.port}`);
  ends.push(() => link.close());
  const service = createHttpService({ url: link.url, token: "token", world: realWorld });
  // Two connections are kept after that.
  await Promise.all([service.forward("GET", "/"), service.forward("GET", "/")]);
  link.stall();
  const lost = service.forward("GET", "/").then((outcome) => {
    stalled += 1;
    return outcome;
  });
  await Promise.resolve();
  expect(stalled).toBe(0);
  service.dropConnections?.();
  expect(await lost).toMatchObject({ kind: "unreachable" });
  expect(await service.forward("GET", "/")).toMatchObject({ kind: "answered" });
});
