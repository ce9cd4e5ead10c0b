import { describe, expect, test } from "bun:test";
import {
  GUESS_DELAY_MS_MAX,
  GUESSES_FREE,
  GuessDelays,
  WAITING_PER_ADDRESS_MAX,
} from "../../server/accounts/guess-delays.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { startServer } from "../support/http-server.ts";
import { shakeHands } from "../support/live-handshake.ts";
import { waitFor } from "../support/wait-for.ts";

const HOME = "192.0.2.1";

/** Milliseconds that one guess after the other waits. */
async function waits(delays: GuessDelays, world: DrivenWorld, address: string, count: number) {
  const found: number[] = [];
  for (let guess = 0; guess < count; guess++) {
    let isOver = false;
    const over = delays.failed(address).then(() => {
      isOver = true;
    });
    let waited = 0;
    await Promise.resolve();
    while (world.timers > 0) {
      world.advance(25);
      waited += 25;
    }
    await over;
    expect(isOver).toBe(true);
    found.push(waited);
  }
  return found;
}

function start() {
  const world = createDrivenWorld();
  return { world, delays: new GuessDelays(world) };
}

describe("a guessed token's refusal", () => {
  test("a guessed token's refusal waits longer with each guess, once the free ones are used up", async () => {
    const { world, delays } = start();
    const found = await waits(delays, world, HOME, GUESSES_FREE + 9);
    expect(found.slice(0, GUESSES_FREE)).toEqual(new Array(GUESSES_FREE).fill(0));
    const rest = [125, 250, 500, 1000, 2000, 4000, 8000, 8000, 8000];
    expect(found.slice(GUESSES_FREE)).toEqual(rest);
    expect(rest.at(-1)).toBe(GUESS_DELAY_MS_MAX);
  });

  test("a guessed token's refusal is forgiven bit by bit", async () => {
    const { world, delays } = start();
    await waits(delays, world, HOME, GUESSES_FREE + 7);
    world.advance(3 * 30_000);
    expect(await waits(delays, world, HOME, 2)).toEqual([1000, 2000]);
    world.advance(3_600_000);
    expect(await waits(delays, world, HOME, GUESSES_FREE + 1)).toEqual([
      ...new Array(GUESSES_FREE).fill(0),
      125,
    ]);
  });

  test("a guessed token's refusal waits for its own address alone", async () => {
    const { world, delays } = start();
    await waits(delays, world, HOME, GUESSES_FREE + 3);
    expect(await waits(delays, world, "192.0.2.2", 1)).toEqual([0]);
    expect(await waits(delays, world, "::ffff:192.0.2.1", 1)).toEqual([1000]);
  });

  test("a guessed token's refusal takes a whole IPv6 network for one address", async () => {
    const { world, delays } = start();
    await waits(delays, world, "2001:db8:0:1::5", GUESSES_FREE);
    expect(await waits(delays, world, "2001:db8:0:1:ffff::1%eth0", 1)).toEqual([125]);
    expect(await waits(delays, world, "2001:DB8::1:0:0:0:1", 1)).toEqual([250]);
    expect(await waits(delays, world, "2001:db8:0:2::5", 1)).toEqual([0]);
    expect(await waits(delays, world, "::1", 1)).toEqual([0]);
  });

  test("a guessed token's refusal holds no more of them than it may, and lets all go at the end", async () => {
    const { world, delays } = start();
    const asked = Array.from({ length: 2 * WAITING_PER_ADDRESS_MAX }, () => delays.failed(HOME));
    expect(world.timers).toBe(WAITING_PER_ADDRESS_MAX);
    for (let network = 0; network < 100; network++) {
      for (let each = 0; each < 60; each++) asked.push(delays.failed(`192.0.2.${network + 2}`));
    }
    expect(world.timers).toBe(4096);
    delays.release();
    await Promise.all(asked);
    expect(world.timers).toBe(0);
    await delays.failed(HOME);
  });

  test("a guessed token's refusal counts against nobody where there is no address", async () => {
    const { world, delays } = start();
    for (let guess = 0; guess < 50; guess++) {
      const refused = delays.failed(undefined);
      expect(world.timers).toBe(0);
      await refused;
    }
  });
});

test("guesses wait, at both doors; a good token, and none at all, do not", async () => {
  const world = createDrivenWorld();
  const delays = new GuessDelays(world);
  const addresses = new Set<string | undefined>();
  await using server = await startServer({
    guessed: (client) => {
      addresses.add(client);
      return delays.failed(client);
    },
  });
  const { url } = server.listener;
  const ask = (token: string) =>
    server.send("GET", "/v1/memories", { token, headers: { "X-Forwarded-For": "198.51.100.7" } });
  for (let guess = 0; guess < GUESSES_FREE; guess++) expect((await ask("guess")).status).toBe(401);
  const slow = [ask("guess"), shakeHands(url, "guess")];
  await waitFor("two refusals that wait", () => world.timers === 2);
  expect((await ask("write")).status).toBe(200);
  expect((await shakeHands(url, "write")).status).toBe(101);
  expect((await ask("")).status).toBe(401);
  expect(world.timers).toBe(2);
  world.advance(GUESS_DELAY_MS_MAX);
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([401, 401]);
  expect([...addresses]).toEqual(["127.0.0.1"]);
});
