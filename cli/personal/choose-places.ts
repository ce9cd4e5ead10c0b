import { homedir } from "node:os";
import type { PersonalFile } from "../../daemon/home/personal-files.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { isPlaceInUse, type PersonalPlace, personalPlaces } from "./personal-place.ts";

/** All places of this user, as this shell's environment has them. */
export function personalPlacesOf({
  variables,
}: Pick<Environment, "variables">): readonly PersonalPlace[] {
  return personalPlaces({ userFolder: homedir(), platform: process.platform, variables });
}

/** The places of these names. Throws `UsageError` for a name that is none. */
export function namedPlaces(
  places: readonly PersonalPlace[],
  names: readonly string[],
): readonly PersonalPlace[] {
  const unknown = names.find((name) => !places.some(({ id }) => id === name));
  if (unknown === undefined) return places.filter(({ id }) => names.includes(id));
  const known = places.map(({ id }) => id).join(", ");
  throw new UsageError(`'${unknown}' is no assistant with such a file: ${known}`);
}

/** The places to turn on, and those that are left out, each with the reason. */
export interface ChosenPlaces {
  readonly chosen: readonly PersonalPlace[];
  readonly left: readonly { readonly place: PersonalPlace; readonly why: string }[];
}

/**
 * The places to turn on: those that are named, else those of assistants that are in use. None gets
 * the text twice unless it was named, and none is made that would hide another file.
 */
export function choosePlaces(
  places: readonly PersonalPlace[],
  names: readonly string[],
  files: readonly PersonalFile[],
): ChosenPlaces {
  const wanted = names.length > 0 ? namedPlaces(places, names) : places.filter(isPlaceInUse);
  if (wanted.length === 0) {
    const all = places.map(({ name }) => name).join(", ");
    throw new CommandFailed(`none of ${all} was found here: name one to turn it on`);
  }
  const isOn = (id: string) =>
    files.some(({ assistant }) => assistant === id) || wanted.some((each) => each.id === id);
  const left = wanted.flatMap((place) => {
    const { covered, path } = place;
    if (!covered || files.some((file) => file.path === path)) return [];
    const isCovered = covered.isHidden || (names.length === 0 && isOn(covered.by));
    return isCovered ? [{ place, why: covered.why }] : [];
  });
  const chosen = wanted.filter((each) => !left.some(({ place }) => place === each));
  const [first] = left;
  if (chosen.length === 0 && first) {
    throw new CommandFailed(`${first.place.name} ${first.why}`, {
      further: [`${first.place.path} would hide it; make that file yourself if you want that`],
    });
  }
  return { chosen, left };
}
