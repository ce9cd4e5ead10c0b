import { expect, test } from "bun:test";
import type { LiveHandlers } from "../../daemon/service/service.ts";
import { LiveLink } from "../../daemon/sync/live-link.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { LIVE_PROJECTS_MAX } from "../../shared/wire/live.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";

const A_WHILE_MS = 10_000;

/** A link whose service is played by the test. */
function startLink(projects: ProjectId[]) {
  const world = createDrivenWorld();
  const sockets: LiveHandlers[] = [];
  const frames: (readonly ProjectId[])[] = [];
  const states: string[] = [];
  const link = new LiveLink({
    open: (handlers) => {
      sockets.push(handlers);
      return { subscribe: (ids) => frames.push(ids), close: () => handlers.closed("closed here") };
    },
    world,
    log: silentLog,
    projects: () => projects,
    mayOpenAt: () => 0,
    isReachable: () => true,
    onUnreached: () => {},
    onFrame: async () => {},
    onState: (state) => states.push(state),
  });
  link.start();
  const socket = () => {
    const last = sockets.at(-1);
    if (!last) throw new Error("no socket was opened");
    return last;
  };
  const answer = () => socket().frame({ type: "subscribed", positions: new Map() });
  return { world, link, frames, states, sockets, socket, answer };
}

function idsOf(count: number, from = 0): ProjectId[] {
  return Array.from({ length: count }, (_, at) => projectId(`${from + at}`));
}

test("a socket is live once its service has answered a subscription, for a handshake is none", () => {
  const { socket, answer, states } = startLink(idsOf(1));
  socket().opened();
  expect(states).toEqual([]);
  socket().frame({ type: "changed", projectId: null, document: "user", epoch: "e", seq: 1 });
  expect(states).toEqual([]);
  answer();
  expect(states).toEqual(["live"]);
});

test("a silent socket is not live until something comes, and never was one that answered nothing", () => {
  const { socket, answer, states } = startLink(idsOf(1));
  socket().opened();
  socket().silent(true);
  socket().silent(false);
  expect(states).toEqual(["silent"]);
  answer();
  socket().silent(true);
  socket().silent(false);
  expect(states).toEqual(["silent", "live", "silent", "live"]);
  socket().closed("gone");
  expect(states.at(-1)).toBe("down");
});

test("a socket that was taken and never answered is opened again less and less often", () => {
  const { world, socket, sockets } = startLink(idsOf(1));
  world.randomBytes = (length) => new Uint8Array(length).fill(255);
  let waitedMs = 0;
  for (let round = 0; round < 7; round++) {
    socket().opened();
    socket().closed("nothing came for too long");
    waitedMs += world.nextTimerInMs();
    world.advance(world.nextTimerInMs());
    expect(sockets.length).toBe(round + 2);
  }
  // Seven times five seconds is what a socket takes that was live.
  expect(waitedMs).toBeGreaterThan(100_000);
});

test("two hundred projects that are linked one by one are subscribed to by a few frames", () => {
  const projects = idsOf(1);
  const { world, link, socket, answer, frames } = startLink(projects);
  socket().opened();
  answer();
  for (let at = 1; at < 200; at++) {
    projects.push(...idsOf(1, at));
    link.subscribeMore();
    if (at % 50 === 0) world.advance(A_WHILE_MS);
  }
  world.advance(A_WHILE_MS);
  expect(frames.map((ids) => ids.length)).toEqual([1, 50, 50, 50, 49]);
  expect(new Set(frames.flat())).toEqual(new Set(idsOf(200)));
  link.subscribeMore();
  world.advance(A_WHILE_MS);
  expect(frames.length).toBe(5);
});

test("a new socket is asked for all that is followed, in one frame", () => {
  const projects = idsOf(10);
  const { world, link, socket, answer, frames } = startLink(projects);
  socket().opened();
  answer();
  projects.push(...idsOf(10, 10));
  link.subscribeMore();
  socket().closed("closed with 1001");
  world.advance(A_WHILE_MS);
  socket().opened();
  world.advance(A_WHILE_MS);
  expect(frames.map((ids) => ids.length)).toEqual([10, 20]);
});

test("of more projects than a socket may hear of, it hears of as many as it may", () => {
  const projects = idsOf(LIVE_PROJECTS_MAX + 1);
  const { world, link, socket, frames } = startLink(projects);
  socket().opened();
  link.subscribeMore();
  world.advance(A_WHILE_MS);
  expect(frames.map((ids) => ids.length)).toEqual([LIVE_PROJECTS_MAX]);
  expect(projects.filter((id) => !link.tellsOf(id))).toEqual(idsOf(1, LIVE_PROJECTS_MAX));
});
