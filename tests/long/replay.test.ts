import { expect } from "bun:test";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { accountForLines, type OwnVersions } from "../support/line-accounts.ts";
import { seededRandom } from "../support/random.ts";
import {
  followPlaces,
  makePlaces,
  type ReplayPlace,
  readFollowed,
  saveSomehow,
  untilEqual,
} from "../support/replay.ts";

const emulator = sharedEmulator({ worksLong: true });

/** Thirteen histories on two machines take half a minute, on a busy one several. */
const REPLAY_DEADLINE_MS = 300_000;

scenario(
  "every history saved on one machine ends byte for byte on the other",
  async (lab) => {
    const random = seededRandom(1);
    const places = await makePlaces(lab);
    const account = emulator.account("follow");
    const a = lab.machine("a", lab.git.folder, account);
    const b = lab.machine("b", lab.git.folder, account);
    await followPlaces(places, a, b);
    const shown = new Map(places.map(({ b: folder }) => [folder, new Set<string>()]));
    const rounds = Math.max(...places.map(({ history }) => history.versions.length));
    for (let round = 0; round < rounds; round++) {
      for (const { history, a: onA, b: onB } of places) {
        const version = history.versions[round];
        if (version !== undefined) await saveSomehow(onA, version, random);
        shown.get(onB)?.add(await readFollowed(onB));
      }
      await a.syncOnce();
    }
    await untilEqual(places, a, b);
    for (const { history, a: onA, b: onB } of places) {
      expect(await readFollowed(onA)).toBe(history.versions.at(-1) ?? "");
      expect(await readFollowed(onB)).toBe(history.versions.at(-1) ?? "");
      for (const text of shown.get(onB) ?? []) expect(["", ...history.versions]).toContain(text);
    }
  },
  { deadlineMs: REPLAY_DEADLINE_MS },
);

/** What each machine's user saves: both begin with the first version. */
interface Stretches {
  readonly a: OwnVersions;
  readonly b: OwnVersions;
}

/** The first half of a history for one machine, the second half for the other. */
function stretchesOf({ history: { versions } }: ReplayPlace): Stretches {
  const [start = "", ...later] = versions;
  const half = Math.floor(later.length / 2);
  return { a: [start, ...later.slice(0, half)], b: [start, ...later.slice(half)] };
}

interface StretchReplay {
  readonly seed: number;
  /** B is cut off for this half of its saves. */
  readonly offline: "first half" | "second half";
}

async function replayStretches(lab: Lab, { seed, offline }: StretchReplay): Promise<void> {
  const random = seededRandom(seed);
  const places = await makePlaces(lab);
  const network = await lab.network(emulator.account(`stretches-${seed}`));
  const a = lab.machine("a", lab.git.folder, emulator.account(`stretches-${seed}`));
  const b = lab.machine("b", lab.git.folder, network);
  await followPlaces(places, a, b);
  const replays = places.map((place) => ({ place, own: stretchesOf(place) }));
  for (const { place, own } of replays) await saveSomehow(place.a, own.a[0], random);
  await untilEqual(places, a, b);
  const rounds = Math.max(...replays.map(({ own }) => own.b.length));
  if (offline === "first half") network.cut();
  for (let round = 1; round < rounds; round++) {
    if (round === Math.ceil(rounds / 2)) {
      if (offline === "first half") network.restore();
      else network.cut();
    }
    for (const { place, own } of replays) {
      for (const side of ["a", "b"] as const) {
        const version = own[side][round];
        if (version !== undefined) await saveSomehow(place[side], version, random);
      }
    }
    // Now and then a machine is not waited for: some saves then come before the last was seen.
    await Promise.all([a, b].filter(() => random() < 0.7).map((machine) => machine.syncOnce()));
  }
  network.restore();
  await untilEqual(places, a, b);
  for (const { place, own } of replays) {
    const merged = await readFollowed(place.a);
    const project = await a.projectOf(place.a);
    expect([place.history.name, accountForLines(merged, own.a, own.b)]).toEqual([
      place.history.name,
      { lost: [], invented: [] },
    ]);
    expect(await a.doc(project.id)).toBe(merged);
    expect(await b.doc(project.id)).toBe(merged);
  }
}

for (const [index, offline] of (["first half", "second half"] as const).entries()) {
  const seed = index + 1;
  scenario(
    `two stretches of each history meet, one machine offline for the ${offline}, seed ${seed}`,
    (lab) => replayStretches(lab, { seed, offline }),
    { deadlineMs: REPLAY_DEADLINE_MS },
  );
}
