import { expect, test } from "bun:test";
import assert from "node:assert/strict";
import { BodyTurns } from "../../server/http/body-turns.ts";
import { bufferFor, giveBack } from "../../server/http/garbage.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";

const MIB = 1024 * 1024;

/** Bodies of so many MiB; `begun` has the names of those whose turn has come. */
function watchedTurns() {
  const roomMade: number[] = [];
  const turns = new BodyTurns(realWorld, silentLog, async (bytes) => {
    roomMade.push(bytes / MIB);
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, mebibytes: number) =>
    turns.take(asAccountId(`acct_${name[0]}`), mebibytes * MIB).then((end) => {
      begun.push(name);
      ends.set(name, end);
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { begun, roomMade, ask, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("of large bodies 8 MiB are worked on at a time, or one, and accounts take turns", async () => {
  const { begun, roomMade, ask, end } = watchedTurns();
  void ask("a1", 64);
  for (const name of ["a2", "a3", "b1"]) void ask(name, 3);
  void ask("c1", 16);
  void ask("b2", 1);
  await settled();
  expect(begun).toEqual(["a1"]);
  await end("a1");
  expect(begun).toEqual(["a1", "a2", "b1"]);
  // The next is too large, and nobody overtakes it.
  await end("a2");
  await end("a2");
  expect(begun.length).toBe(3);
  await end("b1");
  expect(begun.slice(3)).toEqual(["c1"]);
  await end("c1");
  expect(begun.slice(4)).toEqual(["a3", "b2"]);
  expect(roomMade).toEqual([64, 3, 3, 16, 3, 1]);
});

test("a body that is worked on for too long is in nobody's way any more", async () => {
  const atOnce = {
    ...realWorld,
    setTimer: (_: number, run: () => void) => realWorld.setTimer(1, run),
  };
  const turns = new BodyTurns(atOnce, silentLog, async () => {});
  const [a, b] = ["acct_a", "acct_b"].map(asAccountId);
  assert(a !== undefined && b !== undefined, "both are accounts");
  const endFirst = await turns.take(a, 64 * MIB);
  const endNext = await turns.take(b, 64 * MIB);
  // It has ended by itself, and gives no room twice.
  endFirst();
  endNext();
  (await turns.take(b, 64 * MIB))();
});

test("where no room can be made, bodies have their turns without, and it is logged once", async () => {
  const warned: unknown[] = [];
  const log = { warn: (fields: object) => void warned.push(fields) };
  const turns = new BodyTurns(realWorld, log, async () => {
    throw new RangeError("Out of memory");
  });
  const begun: number[] = [];
  for (const megabytes of [64, 40]) {
    void turns.take(asAccountId("acct_a"), megabytes * MIB).then((end) => {
      begun.push(megabytes);
      end();
    });
  }
  await settled();
  expect(begun).toEqual([64, 40]);
  expect(warned).toEqual([{ reason: "Out of memory" }]);
});

test("large bytes are given back at once, and small ones are left alone", () => {
  for (const bytes of [bufferFor(MIB), new Uint8Array(MIB)]) {
    const { buffer } = bytes.fill(7);
    giveBack(bytes.subarray(1));
    expect([bytes.length, buffer.byteLength]).toEqual([0, 0]);
  }
  const small = Buffer.from("small");
  giveBack(small);
  expect(small.toString()).toBe("small");
});
