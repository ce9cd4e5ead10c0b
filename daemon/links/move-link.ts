import { AppError } from "../../shared/errors.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import {
  forgetKnownPlace,
  type KnownPlace,
  putKnownPlace,
  renewChange,
} from "../files/names/place-store.ts";
import { forgetFollowed, moveFollowed } from "../files/state/follow-store.ts";
import { keepHeldSave } from "../held/keep-held-save.ts";
import { keepFormerIgnored, moveIgnoreText, takeBackIgnored } from "../home/ignore-files.ts";
import { moveLinkTo, putLink, removeLink } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { forgetFormerLinks, keepFormerLink } from "./former-links.ts";
import type { PlacedLink, PlacePlan, Replacement } from "./plan-place.ts";

type Context = WriteContext<DaemonTables>;
type Db = Context["db"];

/** Moves links to where their folders are. */
export async function carryOutPlan(context: Context, dir: string, plan: PlacePlan): Promise<void> {
  const { db, now } = context;
  for (const placed of plan.leaving) await leave(context, placed);
  // Two links may exchange their paths, so each gets an interim path first.
  for (const [at, { link }] of plan.moves.entries()) await moveLink(db, link.dir, `${at}`);
  for (const [at, { link, to, isUnsure }] of plan.moves.entries()) {
    await moveLink(db, `${at}`, to);
    const wrote = isUnsure && link.write;
    if (wrote) await putLink(db, { ...link, dir: to, write: false }, now);
    await renewChange(db, to, { kind: "moved", from: link.dir, wrote, at: now });
  }
  if (plan.restored) {
    const { link, known } = plan.restored;
    const isBack = link.dir === dir;
    const moved = { kind: "moved", from: link.dir, wrote: false, at: now } as const;
    const change = isBack ? undefined : moved;
    await putLink(db, { ...link, dir }, now);
    await takeBackIgnored(db, link.projectId, { from: link.dir, dir });
    await putKnownPlace(db, dir, { ...known, change });
    await forgetFormerLinks(db, known.place);
  }
  if (plan.replacement) await replace(context, plan.replacement);
}

/**
 * Changes the path of a link's folder, with everything that is known about its file. Edits made
 * meanwhile then count as edits of the version that was read last.
 */
async function moveLink(db: Db, from: string, to: string): Promise<void> {
  if (!(await moveLinkTo(db, from, to))) throw new AppError("not_found", `${from} is not linked`);
  await moveFollowed(db, from, to);
  await moveIgnoreText(db, from, to);
  await db.updateTable("link_places").set({ dir: to }).where("dir", "=", from).execute();
}

/** The link's folder is not to be found, and another folder is at its path. */
async function leave({ db, now }: Context, { link, known }: PlacedLink): Promise<void> {
  await keepFormerLink(db, link, { knownPlace: known, now });
  await keepFormerIgnored(db, link);
  await keepHeldSave(db, link.dir);
  await forgetFollowed(db, link.dir);
  await forgetKnownPlace(db, link.dir);
  await removeLink(db, link.dir);
}

/**
 * Follows the folder that took the path as well. Consent to write was given for the former folder.
 * The base of this folder's file is unknown, unless the file is the same byte for byte.
 */
async function replace({ db, now }: Context, replacement: Replacement): Promise<void> {
  const { link, known, place, movedTo, isSameFile } = replacement;
  const { dir } = link;
  if (movedTo === undefined) await keepFormerLink(db, link, { knownPlace: known, now });
  if (!isSameFile) {
    await keepHeldSave(db, dir);
    await forgetFollowed(db, dir);
  }
  await putLink(db, { ...link, write: false }, now);
  const wrote = link.write || hadWritten(known);
  const change = { kind: "replaced", movedTo: movedTo ?? null, wrote, at: now } as const;
  await putKnownPlace(db, dir, { ...known, place, change });
}

/** Whether it is already being said that nobody agreed to writing in a folder. */
function hadWritten({ change }: KnownPlace): boolean {
  return change?.wrote === true;
}
