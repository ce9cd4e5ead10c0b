import { messageOf } from "../../../shared/errors.ts";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Lab } from "../../support/lab.ts";
import type { Dice } from "../simulate/dice.ts";
import { ConflictBook } from "./conflict-book.ts";
import { GitPerson } from "./git-person.ts";
import { Historian } from "./historian.ts";
import { type Habits, Person } from "./person.ts";
import type { Place } from "./place.ts";
import type { Town, Unequal } from "./town.ts";

export interface PeopleOptions extends Habits {
  readonly saves: number;
  readonly machines: number;
  readonly projects: number;
  /** When everybody goes home, whatever has been saved by then. */
  readonly forMsMax: number;
}

/** What is there to be judged once everybody has gone home. */
export interface Lived {
  readonly town: Town;
  readonly historian: Historian;
  readonly conflicts: ConflictBook;
  readonly saves: number;
  /** From the last save until everything was equal, in milliseconds. */
  readonly restMs: number;
  /** What was not equal in the end. */
  readonly unequal: readonly Unequal[];
  /** What git refused to do. */
  readonly mishaps: readonly string[];
}

const LOOK_MS = 150;
const BOOK_MS = 20_000;
/** How often somebody begins by fetching what others have pushed. */
const PULLS = 0.6;

type Session = (people: { person: Person; git: GitPerson }) => Promise<void>;

const SESSIONS: readonly Session[] = [
  ({ person }) => person.atEditor(),
  ({ person }) => person.atEditor(),
  ({ person }) => person.atEditor(),
  ({ person }) => person.atAssistant(),
  ({ person }) => person.atAssistant(),
  ({ person }) => person.atGenerator(),
  ({ git }) => git.work(),
];

/** A working day of made-up people at real machines, until so much is saved and all is at rest. */
export async function live(town: Town, lab: Lab, dice: Dice, options: PeopleOptions) {
  const places = town.projects.flatMap((project) => project.places);
  const historian = new Historian(town.projects);
  const conflicts = new ConflictBook();
  const mishaps: string[] = [];
  const until = performance.now() + options.forMsMax;
  const saves = () => places.reduce((sum, place) => sum + place.saves.length, 0);
  const isOver = () => saves() >= options.saves || performance.now() > until;
  let left = false;
  const watching = [
    repeat(
      LOOK_MS,
      () => left,
      async () => town.look(),
    ),
    repeat(
      LOOK_MS,
      () => left,
      () => historian.look(),
    ),
    repeat(
      BOOK_MS,
      () => left,
      () => conflicts.look(town),
    ),
  ];
  const people = places.map((place) => {
    const person = new Person(place, dice.fork(), options);
    return { person, git: new GitPerson(person, lab.git, dice.fork(), isOver), dice: dice.fork() };
  });
  await Promise.all(people.map((each) => liveAt(each, isOver, mishaps)));
  await exchangeAll(town, people, mishaps);
  const { restMs, unequal } = await comeToRest(town, places);
  left = true;
  await Promise.all(watching);
  await historian.look(true);
  await conflicts.look(town);
  return { town, historian, conflicts, saves: saves(), restMs, unequal, mishaps };
}

interface Inhabitant {
  readonly person: Person;
  readonly git: GitPerson;
  readonly dice: Dice;
}

async function liveAt(each: Inhabitant, isOver: () => boolean, mishaps: string[]): Promise<void> {
  const { place } = each.person;
  while (!isOver()) {
    await each.person.pause(0, each.person.habits.breakMsMax);
    const pulls = place.kind === "tracked" && each.dice.chance(PULLS);
    if (pulls) await orMishap(place, mishaps, () => each.git.exchange());
    await orMishap(place, mishaps, () => each.dice.pick(SESSIONS)(each));
  }
}

/** What is tracked is brought together in the end, so that each clone has every commit. */
async function exchangeAll(town: Town, people: readonly Inhabitant[], mishaps: string[]) {
  const tracked = town.projects.filter(({ kind }) => kind === "tracked");
  await Promise.all(
    tracked.map(async ({ places }) => {
      const here = people.filter(({ person }) => places.includes(person.place));
      // The last one has everything already, and the others fetch what it has added.
      for (const { git, person } of [...here, ...here.slice(0, -1)]) {
        await orMishap(person.place, mishaps, () => git.exchange());
        await git.settle();
      }
    }),
  );
}

async function orMishap(place: Place, mishaps: string[], run: () => Promise<void>) {
  try {
    await run();
  } catch (thrown) {
    mishaps.push(`${place.name}: ${messageOf(thrown)}`);
    place.ledger.enter(place.name, `mishap: ${messageOf(thrown)}`, place.read());
  }
}

async function comeToRest(town: Town, places: readonly Place[]) {
  const lastAt = Math.max(...places.map((place) => place.saves.at(-1)?.at ?? 0));
  const unequal = await town.rest();
  return { restMs: performance.now() - lastAt, unequal };
}

async function repeat(everyMs: number, isOver: () => boolean, work: () => Promise<void>) {
  while (!isOver()) {
    await work();
    await delay(realWorld, everyMs);
  }
}
