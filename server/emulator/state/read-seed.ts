import { stat } from "node:fs/promises";
import { AppError, type ErrorDetail } from "../../../shared/errors.ts";
import { invalid } from "../../../shared/wire/parse.ts";
import type { EmulatorSeed } from "../interface/state.ts";
import { parseSeed } from "./seed-body.ts";
import { readSeedFolder } from "./seed-folder.ts";
import { readSeedText, unreadable } from "./seed-text.ts";

/** At most this many wrong places are named, each in a line of its own. */
const PLACES_MAX = 20;

/**
 * Reads a seed from a file: a seed or an export, or from a folder of such files and of Markdown,
 * each of which is a memory: `PROJECT/KEY.md`, `user/KEY.md`, `global/KEY.md`; `PROJECT/CLAUDE.md`
 * is the project's description. Rejects with the file and the line of what is wrong.
 *
 * ```
 * await emulator.seed(await readSeed("tests/seed"), { token });
 * ```
 */
export async function readSeed(path: string): Promise<EmulatorSeed> {
  const stats = await stat(path).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  if (!stats.isDirectory()) return await readSeedFile(path);
  return await readSeedFolder(path, readSeedFile);
}

async function readSeedFile(path: string): Promise<EmulatorSeed> {
  const text = (await readSeedText(path)).replace(/^\ufeff/, "");
  const seed = await parseJson(path, text);
  const { doublesIn, placedIn } = await seedPlaces();
  refusePlaces(doublesIn(path, text));
  try {
    parseSeed(seed);
  } catch (thrown) {
    if (thrown instanceof AppError) refusePlaces(placedIn(path, text, thrown.details));
    throw thrown;
  }
  // `parseSeed` has refused what is no seed.
  return seed as EmulatorSeed;
}

function refusePlaces(details: readonly ErrorDetail[]): void {
  if (details.length === 0) return;
  const places = details.slice(0, PLACES_MAX).map((each) => `${each.path} ${each.message}`);
  throw new AppError("invalid_request", places.join("\n"), details);
}

async function parseJson(path: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { placeOfBadJson } = await seedPlaces();
    throw invalid([{ path: placeOfBadJson(path, text), message: "is not JSON" }]);
  }
}

/** Loaded only where there is a seed in JSON: an emulator starts in milliseconds. */
async function seedPlaces(): Promise<typeof import("./seed-places.ts")> {
  return await import("./seed-places.ts");
}
