import type { Command } from "commander";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { LAYER_ORDER, parseLayerOption } from "../place/layer-option.ts";
import {
  type PlaceOptions,
  placesToRead,
  targetOf,
  withAgreements,
  withLocal,
} from "../place/place.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { sayJson, saySentence } from "../screen/output.ts";
import { agreeToReplace } from "../writes/agree-to-instructions.ts";
import { agreeToAudience } from "../writes/audience.ts";
import { findSource, moveMemory } from "../writes/move-memory.ts";
import { sayIfOutOfReach } from "../writes/out-of-reach.ts";

interface MoveOptions extends PlaceOptions {
  readonly layer: string;
  readonly from?: string;
  readonly allowSecret?: boolean;
  readonly allowPersonal?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const HELP = `
It is written there and deleted where it was, at once. A memory of that key in the other layer is
never written over, and what is held or in conflict stays where it is. Its former versions stay in
the history of the layer that it was in.`;

/** `move`: moves a memory to another layer. */
export function addMoveCommand(program: Command, env: Environment): void {
  const command = program
    .command("move <key>")
    .description("move a memory to another layer")
    .requiredOption("--layer <layer>", "where to: project, user (you alone) or global (everybody)")
    .option("--from <layer>", "the layer that it is in, where several have the key")
    .option("--project <dir|id|name>", "of this project, instead of the current folder's")
    .option("--remote <name>", "between user and global of this remote")
    .option("--allow-secret", "what looks like a secret in it is none, or is to be synced")
    .option("--allow-personal", "lines of your own instructions in it are to be synced")
    .option("--json", "print where it was and is as JSON")
    .addHelpText("after", HELP);
  withAgreements(command).action((key: string, options: MoveOptions) => move(env, key, options));
}

async function move(env: Environment, key: string, options: MoveOptions): Promise<void> {
  const layer = parseLayerOption(options.layer);
  const { from, ...place } = options;
  const others = LAYER_ORDER.filter((each) => each !== layer);
  const named = from === undefined ? undefined : parseLayerOption(from);
  if (named === layer) throw new UsageError(`--from and --layer are both ${layer}`);
  const wanted = named === undefined ? others : [named];
  const { target, sources, source, value } = await withLocal(env, async (db) => {
    const to = await targetOf(env, db, place);
    const { layer: _, ...anyLayer } = place;
    const { places, unlinked } = await placesToRead(env, db, anyLayer);
    const read = places.filter((each) => wanted.includes(each.layer));
    if (unlinked && named === "project") throw unlinked;
    const found = await findSource(db, { key, sources: read, target: to }).catch((thrown) => {
      // A linked project would have been searched first, so the refusal says that there is none.
      throw unlinked && thrown instanceof CommandFailed ? orUnlinked(thrown, unlinked) : thrown;
    });
    return { target: to, sources: [found.place], source: found.place, value: found.memory.value };
  });
  await agreeToAudience(env, source, { done: "deleted", options });
  await agreeToAudience(env, target, { done: "moved", options });
  const guard = await agreeToReplace(env, target, { key, value, done: "moved", options });
  const { allowSecret, allowPersonal } = options;
  const allows = { allowSecret, allowPersonal };
  const was: Layer = await moveMemory(env, { key, value, sources, target, allows, guard });
  if (options.json) sayJson({ key, from: was, layer });
  else saySentence(`moved "${key}" from ${was} to ${layer}`);
  await sayIfOutOfReach(env, target);
}

function orUnlinked(thrown: CommandFailed, unlinked: CommandFailed): CommandFailed {
  return new CommandFailed(`${thrown.message}, and ${unlinked.message}`);
}
