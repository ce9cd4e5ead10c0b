import { expect, test } from "bun:test";
import { createApp } from "../../server/app/app.ts";
import { createStartingApp } from "../../server/app/starting-app.ts";
import { listen } from "../../server/listen/listen.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, fakeAuthenticate, MEMORY } from "../support/fake-services.ts";
import { connectLive } from "../support/live-client.ts";

const world = realWorld;
const log = silentLog;

test("while a server starts it answers probes, and all else waits for it", async () => {
  const readiness = new Readiness("starting");
  const starting = createStartingApp({ world, log, readiness });
  const listener = await listen(starting.app, { host: "127.0.0.1", port: 0 });
  const get = (path: string) =>
    fetch(`${listener.url}${path}`, { headers: { Authorization: "Bearer write" } });

  const unready = await get("/readyz");
  expect([unready.status, await unready.json()]).toEqual([503, { status: "starting" }]);
  expect((await get("/healthz")).status).toBe(200);
  const waiting = get("/v1/memories");
  const socket = connectLive(listener.url, "write");

  const { services } = createFakeServices();
  starting.started(createApp({ services, authenticate: fakeAuthenticate, world, log }));
  readiness.state = "ready";
  expect(await (await waiting).json()).toMatchObject({ memories: [MEMORY] });
  (await socket)[Symbol.dispose]();
  expect((await get("/readyz")).status).toBe(200);
  await listener.close(0);
});
