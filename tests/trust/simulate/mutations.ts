import { FILES } from "./mutations/files.ts";
import { GIT } from "./mutations/git.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { PLACES } from "./mutations/places.ts";
import { REPLICA } from "./mutations/replica.ts";
import { SAVES } from "./mutations/saves.ts";
import { SYNC } from "./mutations/sync.ts";

/** Mistakes that the simulation has to find. */
export const MUTATIONS: readonly Mutation[] = [
  ...REPLICA,
  ...SYNC,
  ...FILES,
  ...SAVES,
  ...GIT,
  ...PLACES,
];
