import { FILES } from "./mutations/files.ts";
import { GIT } from "./mutations/git.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { PLACES } from "./mutations/places.ts";
import { REPLICA } from "./mutations/replica.ts";
import { SAVES } from "./mutations/saves.ts";
import { SYNC } from "./mutations/sync.ts";
import type { Replacement } from "./replacement.ts";

/** Mistakes that the simulation has to find. */
export const MUTATIONS: readonly Mutation[] = [
  ...REPLICA,
  ...SYNC,
  ...FILES,
  ...SAVES,
  ...GIT,
  ...PLACES,
];

/** What the source has in place of its own text with this mistake in it. */
export function replacementsOf(mutation: string): readonly Replacement[] {
  const mutant = MUTATIONS.find(({ name }) => name === mutation);
  if (!mutant) throw new Error(`there is no mutation "${mutation}"`);
  return mutant.replacements;
}
