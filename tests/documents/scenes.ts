import type { Scene } from "./scene.ts";
import { FILES } from "./scene-of-files.ts";
import { INTERFACE } from "./scene-of-interface.ts";
import { PERSONAL } from "./scene-of-personal.ts";
import { PLACES } from "./scene-of-places.ts";
import { README } from "./scene-of-readme.ts";
import { CONTRIBUTING, EMULATOR, OPERATING, RELEASING, SECRETS, SERVICES } from "./short-scenes.ts";

export type { Scene };

/** One for each document with commands. */
export const SCENES: readonly Scene[] = [
  README,
  CONTRIBUTING,
  EMULATOR,
  FILES,
  INTERFACE,
  OPERATING,
  PLACES,
  PERSONAL,
  RELEASING,
  SECRETS,
  SERVICES,
];
