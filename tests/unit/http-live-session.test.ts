import { expect, test } from "bun:test";
import {
  createLiveSession,
  LIVE_BUFFERED_BYTES_MAX,
  type LiveSocket,
  PING_INTERVAL_MS,
} from "../../server/live/live-session.ts";
import { LiveSockets } from "../../server/live/live-sockets.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { encodeSubscribe, LIVE_PROJECTS_MAX } from "../../shared/wire/live.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CALLERS, createFakeServices, OTHER_PROJECT, PROJECT } from "../support/fake-services.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

/** A session on a socket that notes what it is told to do. */
function openSession({ buffered = 0 } = {}) {
  const fake = createFakeServices();
  const sockets = new LiveSockets();
  const timers: (() => void)[] = [];
  const done: (string | number)[] = [];
  const frames: string[] = [];
  const account = { name: "acme", plan: "team" as "team" | null, users: 1, user: "ann" };
  const socket: LiveSocket = {
    send: (frame) => {
      done.push("send");
      frames.push(frame);
    },
    ping: () => void done.push("ping"),
    close: (code) => void done.push(code),
    terminate: () => void done.push("terminate"),
    bufferedBytes: () => buffered,
  };
  const session = createLiveSession({
    live: fake.services.live,
    account: { get: async () => account },
    caller: CALLERS.write,
    stillValid: async () => true,
    sockets,
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
  const told = () => {
    return frames.map((each) => JSON.parse(each)).filter(({ type }) => type === "account");
  };
  const commit = () =>
    fake.commit({
      document: "global",
      projectId: null,
      user: null,
      epoch: "e",
      seq: 1,
      update: new Uint8Array(),
    });
  return { session, sockets, fake, done, ping, commit, account, told };
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

test("a socket that is read too slowly is ended at once", () => {
  const { done, commit } = openSession({ buffered: LIVE_BUFFERED_BYTES_MAX + 1 });
  commit();
  commit();
  expect(done).toEqual(["send", "terminate"]);
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

test("a socket counts until it is closed, and with it what it subscribed to", () => {
  const { session, sockets } = openSession();
  session.receive(encodeSubscribe([PROJECT, OTHER_PROJECT]));
  session.receive(encodeSubscribe([PROJECT]));
  expect([sockets.open, sockets.subscriptions]).toEqual([1, 2]);
  session.receiveBinary();
  expect(sockets.open).toBe(1);
  session.closed();
  session.closed();
  expect([sockets.open, sockets.subscriptions]).toEqual([0, 0]);
});

test("one socket may have only so much looked up between two pings", async () => {
  const { session, done, ping } = openSession();
  const many = Array.from({ length: LIVE_PROJECTS_MAX }, (_, at) => projectId(`${at}`));
  const subscribe = async () => {
    session.receive(encodeSubscribe(many));
    while (done.at(-1) !== "send") await Promise.resolve();
    done.push("seen");
  };
  for (let turn = 0; turn < 3; turn++) await subscribe();
  await ping();
  for (let turn = 0; turn < 3; turn++) await subscribe();
  expect(done).not.toContain(1008);
  session.receive(encodeSubscribe(many));
  expect(done.at(-1)).toBe(1008);
});

test("a client that wants it is told of its account, and within a ping of who comes", async () => {
  const { session, sockets, account, ping, told } = openSession();
  session.receive(encodeSubscribe([PROJECT], { account: true }));
  await waitFor("the account", async () => told().length === 1);
  const frame = { type: "account", account: { ...account } };
  await ping();
  session.pong();
  account.users = 2;
  await ping();
  await waitFor("the colleague", async () => told().length === 2);
  expect(told()).toEqual([frame, { type: "account", account: { ...frame.account, users: 2 } }]);
  // A user who is made or removed comes or goes with tokens.
  account.users = 3;
  sockets.recheck();
  await waitFor("the next user", async () => told().at(-1).account.users === 3);
});

test("sockets of the accounts whose tokens have changed look at theirs again, and no others", () => {
  const sockets = new LiveSockets();
  const looked: string[] = [];
  const [ann, bob] = [asAccountId("ann"), asAccountId("bob")];
  for (const account of [ann, bob, ann]) {
    sockets.attach({ account, recheck: () => void looked.push(account), end() {} });
  }
  sockets.recheck(new Set([ann]));
  expect(looked.splice(0)).toEqual([ann, ann]);
  sockets.recheck();
  expect(looked).toEqual([ann, bob, ann]);
});

test("a client that does not want it is told nothing of its account", async () => {
  const { session, done, ping, told } = openSession();
  session.receive(encodeSubscribe([PROJECT]));
  await waitFor("the answer", async () => done.length === 1);
  await ping();
  expect(told()).toEqual([]);
});
