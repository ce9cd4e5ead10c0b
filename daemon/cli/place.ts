import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Kysely } from "kysely";
import { passGate } from "../../shared/sqlite/lock.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { DaemonTables } from "../tables.ts";
import type { Environment } from "./environment.ts";
import { findProject } from "./find-project.ts";
import { LAYER_ORDER, ownDocument, parseLayer } from "./layer-option.ts";
import { openLocal } from "./local-memories.ts";

/** Which memories a command is about, as it was typed. */
export interface PlaceOptions {
  readonly layer?: string;
  readonly project?: string;
}

/** Where a memory is: a layer, and its local document. */
export interface Place {
  readonly layer: Layer;
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
}

/** Adds `--layer` and `--project`. */
export function withPlace(command: Command): Command {
  return command
    .option("--layer <layer>", "project, user or global")
    .option("--project <dir|id>", "a folder or a project's id, instead of the current folder");
}

/** The place that a write goes to; the project's unless a layer is named. */
export async function targetOf(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  { layer, project }: PlaceOptions,
): Promise<Place> {
  const parsed = layer === undefined ? "project" : parseLayer(layer);
  if (parsed !== "project") return { layer: parsed, document: ownDocument(parsed) };
  return { layer: parsed, document: await findProject(db, project, env.dir) };
}

/** The places that a read looks in, in order. */
export async function placesToRead(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  options: PlaceOptions,
): Promise<Place[]> {
  const wanted = options.layer === undefined ? LAYER_ORDER : [parseLayer(options.layer)];
  const places: Place[] = [];
  for (const layer of wanted) places.push(await targetOf(env, db, { ...options, layer }));
  return places;
}

/** Runs `work` on the home's replica, opened for reading; undefined where there is none yet. */
export async function withLocal<Result>(
  env: Environment,
  work: (db: Kysely<DaemonTables> | undefined) => Promise<Result>,
): Promise<Result> {
  const { home } = env;
  // A home that can't be written can be read all the same, and is not exchanged either.
  const gate = existsSync(home.database) ? passGate(home.gate, "shared") : undefined;
  const passed = await gate?.catch(() => undefined);
  try {
    const db = await openLocal(home);
    try {
      return await work(db);
    } finally {
      await db?.destroy();
    }
  } finally {
    passed?.release();
  }
}
