import { expect } from "bun:test";
import { scenario } from "../support/lab.ts";
import { pick, seededRandom } from "../support/random.ts";
import { waitFor } from "../support/wait-for.ts";

const ROUNDS = 6;
const WRITERS = 3;
const SEED = 20261121;

scenario("what set said it saved is there after the daemon is killed", async (lab) => {
  const random = seededRandom(SEED);
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("a", folder);
  const saved = new Map<string, string>();
  await machine.up();
  for (let round = 0; round < ROUNDS; round++) {
    const before = saved.size;
    let killed = false;
    const write = async (writer: number) => {
      for (let at = 0; !killed; at++) {
        const key = `seed-${SEED}-round-${round}-${writer}-${at}`;
        const { status } = await machine.run(["set", key, key.repeat(at + 1)]);
        if (status === 0) saved.set(key, key.repeat(at + 1));
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    const enough = before + 1 + Math.floor(random() * 4);
    await waitFor("some to be saved", () => saved.size >= enough);
    await machine.down("SIGKILL");
    killed = true;
    await Promise.all(writers);
    await machine.up();
    const found = new Map((await machine.list()).map(({ key, value }) => [key, value]));
    for (const [key, value] of saved)
      expect({ key, value: found.get(key) }).toEqual({ key, value });
  }
});

scenario("what sync said is synced is on the service after that is killed", async (lab) => {
  const random = seededRandom(SEED + 1);
  const emulator = await lab.emulator(lab.git.path("data"));
  const [a, b] = await lab.twoMachines(emulator.account("crash"), { "README.md": "" });
  await a.up();
  const synced: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const keys = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => `${round}-${at}`);
    for (const key of keys) await a.memsync("set", key, `value of ${key}`);
    await a.untilSynced();
    synced.push(...keys);
    // Killed at rest, or with the next write under way.
    if (pick(random, [true, false])) void a.run(["set", `racing-${round}`, "perhaps"]);
    await emulator.end("SIGKILL");
    await emulator.again();
  }
  // Nothing comes from the machine that wrote it: it is gone before the other one asks.
  await a.down("SIGKILL");
  await b.up();
  await b.untilSynced();
  const found = new Map((await b.list()).map(({ key, value }) => [key, value]));
  for (const key of synced) {
    expect({ key, value: found.get(key) }).toEqual({ key, value: `value of ${key}` });
  }
});
