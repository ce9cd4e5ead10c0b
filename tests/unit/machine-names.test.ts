import { expect, setDefaultTimeout, test } from "bun:test";
import { isSameMachine } from "../../shared/replica/document/author.ts";
import { type HomeRecord, homesIn, putHome } from "../../shared/replica/log/homes.ts";
import { address, inspect, setMemory } from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(30_000);

const newStore = storesOfTests();
const HERE = { machine: "debian", home: "here" };
const ELSEWHERE = { machine: "debian", home: "elsewhere" };
const DAY_MS = 24 * 3_600_000;

/** The name of each client that a document names. */
const namesIn = (temp: TempStore) =>
  inspect(temp.store, ({ document: { metadata } }) => {
    const named = [...metadata.keys()].filter((key) => key.startsWith("memsync.machine/"));
    return named.map((key) => [Number(key.split("/")[1]), metadata.get(key)[0]?.value]);
  });

const homesOf = (temp: TempStore) => inspect(temp.store, ({ document }) => homesIn(document));

/** A version of memsync that knows of no homes wrote here, and nothing of that is visible. */
async function nameAlone(temp: TempStore, client: number, name: string): Promise<void> {
  await temp.store.write(async (context) => {
    const { document } = await context.open(address());
    const key = `memsync.machine/${client}`;
    document.setEntry("metadata", key, { value: name, now: context.now });
  });
}

test("the records of a home go with what it wrote, and never those of another one of its name", async () => {
  const temp = await newStore(ELSEWHERE);
  await setMemory(temp.store, "k", "1");
  await temp.reopen(HERE);
  await setMemory(temp.store, "k", "2");
  await temp.reopen(HERE);
  await setMemory(temp.store, "k", "3");
  expect(await namesIn(temp)).toEqual([
    [1001, "debian"],
    [1003, "debian"],
  ]);
  const homes = await homesOf(temp);
  expect(homes.map(({ home, clients }) => [home, clients])).toEqual([
    ["elsewhere", [1001]],
    ["here", [1003]],
  ]);
});

test("a name that no home claims stays, for it may be another machine's", async () => {
  const temp = await newStore(HERE);
  await nameAlone(temp, 7, "debian");
  await temp.reopen(HERE);
  await setMemory(temp.store, "k", "1");
  expect(await namesIn(temp)).toEqual(expect.arrayContaining([[7, "debian"]]));
});

test("a service's former names go, and not those of a machine that is called as it is", async () => {
  const temp = await newStore({ machine: "service", home: "here" });
  await setMemory(temp.store, "k", "1");
  for (const value of ["2", "3"]) {
    await temp.reopen({ machine: "service" });
    await setMemory(temp.store, "k", value);
  }
  expect((await namesIn(temp)).map(([client]) => client)).toEqual([1001, 1003]);
});

test("a home that gets another name gives it to what it wrote, and to nothing of a namesake's", async () => {
  const temp = await newStore(ELSEWHERE);
  await setMemory(temp.store, "theirs", "1");
  await temp.reopen(HERE);
  await setMemory(temp.store, "mine", "1");
  await temp.reopen({ ...HERE, machine: "laptop" });
  await setMemory(temp.store, "new", "1");
  expect(await namesIn(temp)).toEqual([
    [1001, "debian"],
    [1002, "laptop"],
    [1003, "laptop"],
  ]);
});

test("a process that writes on says every week that its home is in use, and not each time", async () => {
  const temp = await newStore(HERE);
  await setMemory(temp.store, "k", "1");
  const [first] = await homesOf(temp);
  temp.world.advance(6 * DAY_MS);
  await setMemory(temp.store, "k", "2");
  expect(await homesOf(temp)).toEqual([first as HomeRecord]);
  temp.world.advance(2 * DAY_MS);
  await setMemory(temp.store, "k", "3");
  const [last] = await homesOf(temp);
  expect(last?.at).toBe((first?.at ?? 0) + 8 * DAY_MS);
});

test("what is no record of a home is read as none", async () => {
  const temp = await newStore(HERE);
  await inspect(temp.store, ({ document }) => {
    const good = { home: "good", name: "debian", at: 1, clients: [7] };
    putHome(document, good);
    const bad = { name: "debian", at: 9e15 };
    for (const value of ["x", null, [], {}, bad, { name: 7, at: 1 }]) {
      document.setEntry("metadata", "memsync.home/bad", { value, now: 1 });
      expect(homesIn(document)).toEqual([good]);
    }
  });
});

test("homes say whether two authors are one machine, and names where a home is not known", () => {
  const [one, other] = ["home1", "home2"].map((home) => ({ machine: "macbook", home }));
  expect(isSameMachine(one ?? {}, other ?? {})).toBeFalse();
  expect(isSameMachine(one ?? {}, { machine: "renamed", home: "home1" })).toBeTrue();
  expect(isSameMachine(one ?? {}, { machine: "macbook" })).toBeTrue();
});
