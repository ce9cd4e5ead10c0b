import { expect } from "bun:test";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { FollowedMachine } from "./followed-machines.ts";
import { waitFor } from "./wait-for.ts";

/** Exchanges until all have all. */
export async function exchange(machines: readonly FollowedMachine[]): Promise<void> {
  const looked = new Set<FollowedMachine>();
  for (let round = 0; round < 2; round++) {
    for (const to of machines) {
      for (const from of machines) {
        if (to === from) continue;
        await to.receive(from, looked.has(to));
        looked.add(to);
      }
    }
  }
  const [first] = machines;
  const text = await first?.doc();
  await waitFor("all documents to be the same", async () => {
    const texts = await Promise.all(machines.map((machine) => machine.doc()));
    return texts.every((each) => each === text);
  });
  for (const machine of machines) await machine.acknowledge();
}

/** Machines that call more often than this do so for ever. */
const CALLS_MAX = 40;

/**
 * As `exchange`, over a service, which only keeps what it is sent: each machine puts in order what
 * others sent before it. In the order given, over and over until nobody has anything to send.
 */
export async function exchangeOverService(machines: readonly FollowedMachine[]): Promise<void> {
  const log: Uint8Array[] = [];
  for (const machine of machines) machine.beginCalls();
  for (let sent = -1, calls = 0; sent < log.length; calls++) {
    if (calls === CALLS_MAX) throw new Error("the machines never cease to send");
    sent = log.length;
    for (const machine of machines) await machine.call(log);
  }
  const texts = new Set(await Promise.all(machines.map((machine) => machine.doc())));
  if (texts.size !== 1) throw new Error("the machines do not agree");
}

/** The texts of the conflicts that two machines list, which have to list the same ones. */
export async function toldTexts([a, b]: readonly [FollowedMachine, FollowedMachine]): Promise<
  string[][]
> {
  const listed = await a.listed();
  expect(await b.listed()).toEqual(listed);
  const all = (await a.conflicts()).filter(({ id }) => listed.includes(id));
  return all.map(({ versions }) => versions.map(({ text }) => text));
}

/** The texts of the conflicts that are not over, the same on all of these machines. */
export async function toldBy(machines: readonly FollowedMachine[]): Promise<string[][]> {
  const each = await Promise.all(
    machines.map(async (machine) => {
      const content = await machine.doc();
      const open = (await machine.conflicts()).filter((record) => !isOver(record, content));
      return open.map(({ versions }) => versions.map(({ text }) => text)).sort();
    }),
  );
  for (const other of each) expect(other).toEqual(each[0] as string[][]);
  return each[0] ?? [];
}
