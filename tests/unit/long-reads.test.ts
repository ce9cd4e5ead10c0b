import { expect, test } from "bun:test";
import { LongReads } from "../../server/services/long-reads.ts";
import { asAccountId } from "../../shared/ids.ts";

/** Reads that end when they are told to; `begun` has the names of those that were let in. */
function watchedReads() {
  const reads = new LongReads();
  const begun: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const ask = (name: string) =>
    reads.run(asAccountId(`acct_${name[0]}`), async () => {
      begun.push(name);
      const failure = await new Promise<Error | undefined>((resolve) => {
        ends.set(name, resolve);
      });
      if (failure) throw failure;
      return name;
    });
  const end = async (name: string, failure?: Error) => {
    ends.get(name)?.(failure);
    await settled();
  };
  return { begun, ask, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("long lists are read two at a time, one of an account, and accounts take turns", async () => {
  const { begun, ask, end } = watchedReads();
  const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map(ask);
  await settled();
  expect(begun).toEqual(["a1", "b1"]);
  await end("a1");
  await end("b1");
  await end("a2");
  expect(begun).toEqual(["a1", "b1", "a2", "b2", "c1"]);
  await end("b2");
  for (const name of ["c1", "a3"]) await end(name);
  expect(begun.slice(5)).toEqual(["a3"]);
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1", "b2", "c1"]);
});

test("a read that fails leaves its place to the next", async () => {
  const { begun, ask, end } = watchedReads();
  const failed = ask("a1").catch((thrown: Error) => thrown.message);
  const after = ask("a2");
  await settled();
  await end("a1", new Error("damaged"));
  expect(begun).toEqual(["a1", "a2"]);
  await end("a2");
  expect([await failed, await after]).toEqual(["damaged", "a2"]);
});
