import { expect, test } from "bun:test";
import {
  createLiveSession,
  LIVE_BUFFERED_BYTES_MAX,
  type LiveSocket,
  PING_INTERVAL_MS,
} from "../../server/live/live-session.ts";
import { silentLog } from "../../shared/log.ts";
import { encodeSubscribe } from "../../shared/wire/live.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CALLERS, createFakeServices, PROJECT } from "../support/fake-services.ts";

/** A session on a socket that notes what it is told to do. */
function openSession({ buffered = 0 } = {}) {
  const fake = createFakeServices();
  const timers: (() => void)[] = [];
  const done: (string | number)[] = [];
  const socket: LiveSocket = {
    send: () => void done.push("send"),
    ping: () => void done.push("ping"),
    close: (code) => void done.push(code),
    bufferedBytes: () => buffered,
  };
  const session = createLiveSession({
    live: fake.services.live,
    caller: CALLERS.write,
    stillValid: async () => true,
    socket,
    world: {
      ...realWorld,
      setTimer(delayMs, callback) {
        expect(delayMs).toBe(PING_INTERVAL_MS);
        timers.push(callback);
        return { cancel: () => {} };
      },
    },
    log: silentLog,
  });
  /** Lets the next ping be due, and waits until it is dealt with. */
  async function ping(): Promise<void> {
    timers.shift()?.();
    await Promise.resolve().then(() => {});
  }
  const commit = () =>
    fake.commit({
      document: "global",
      projectId: null,
      user: null,
      epoch: "e",
      seq: 1,
      update: new Uint8Array(),
    });
  return { session, fake, done, ping, commit };
}

test("a socket that answers is pinged again and again", async () => {
  const { session, done, ping } = openSession();
  await ping();
  session.pong();
  await ping();
  session.pong();
  await ping();
  expect(done).toEqual(["ping", "ping", "ping"]);
});

test("a socket that did not answer its ping is closed at the next", async () => {
  const { done, ping, fake } = openSession();
  await ping();
  await ping();
  expect(done).toEqual(["ping", 1001]);
  expect(fake.listeners()).toBe(0);
});

test("a socket that is read too slowly is closed with 1013", () => {
  const { done, commit } = openSession({ buffered: LIVE_BUFFERED_BYTES_MAX + 1 });
  commit();
  commit();
  expect(done).toEqual(["send", 1013]);
});

test("changes that pile up behind a subscription close the socket with 1013", () => {
  const { session, done, fake, commit } = openSession();
  fake.on("live.positions", () => new Promise(() => {}));
  session.receive(encodeSubscribe([PROJECT]));
  for (let count = 0; count < 2000; count++) commit();
  expect(done).toEqual([1013]);
});

test("subscriptions that pile up close the socket with 1008", () => {
  const { session, done, fake } = openSession();
  fake.on("live.positions", () => new Promise(() => {}));
  for (let count = 0; count < 100; count++) session.receive(encodeSubscribe([PROJECT]));
  expect(done).toEqual([1008]);
});

test("nothing is sent once the socket is closed", () => {
  const { session, done, commit, fake } = openSession();
  session.closed();
  session.receive("nonsense");
  session.receiveBinary();
  commit();
  expect(done).toEqual([]);
  expect(fake.listeners()).toBe(0);
});
