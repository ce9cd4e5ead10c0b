import { readMachineName } from "../../daemon/home/machine-name.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { nearWords } from "../../shared/near-words.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { memoryHistory } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { visible } from "../screen/visible.ts";
import { writeMemory } from "../writes/inbox-write.ts";
import { sayLeftHeld } from "../writes/left-held.ts";
import { namedKeys, whySecret } from "./kept-secret.ts";
import { refuseInstructions } from "./own-instructions.ts";
import {
  findScope,
  placesOf,
  placeToWrite,
  refusalIn,
  scopeJson,
  scopeLine,
} from "./project-scope.ts";
import { framed, type ToolResult } from "./tool-result.ts";

/** What `forget` is asked. */
export interface ForgetRequest {
  readonly key: string;
  readonly layer?: Layer | undefined;
  readonly project?: string | undefined;
}

const FIRST_LINE_MAX = 160;

/** `forget`: deletes one memory of one layer, and says how its user gets it back. */
export async function forget(
  env: Environment,
  option: string | undefined,
  { key, layer = "project", project }: ForgetRequest,
): Promise<ToolResult> {
  const { scope, place, memory, why, keys, elsewhere } = await withLocal(env, async (db) => {
    const meant = await findScope(env, db, { argument: project, option });
    const target = await placeToWrite(env, db, { scope: meant, layer });
    const known = db ? await readLocalMemories(db, target.document, target.account) : [];
    const memory = known.find((each) => each.key === key);
    await refuseInstructions(db, { scope: meant, place: target, memories: [memory] });
    const others: Layer[] = [];
    for (const other of db ? await placesOf(env, db, { scope: meant }) : []) {
      if (!db || other.layer === layer) continue;
      const memories = await readLocalMemories(db, other.document, other.account);
      if (memories.some((each) => each.key === key)) others.push(other.layer);
    }
    return {
      scope: meant,
      place: target,
      memory,
      why: db && memory && (await whySecret(db, memory)),
      keys: await namedKeys(known),
      elsewhere: others,
    };
  });
  const written = memory && (await writeMemory(env.home, place, { key, value: undefined }));
  if (!written) {
    const where = elsewhere.length === 0 ? "" : `; the layer ${elsewhere.join(" and ")} has one`;
    const none = `there is no memory "${key}" in the layer ${layer}${where}`;
    throw refusalIn(scope, none, nearWords(key, keys));
  }
  const { leftHeld } = written;
  // The history never has a held value, only what was there before it.
  const kept = await withLocal(env, async (db) => {
    if (!db || !leftHeld) return revisionName(memory.value);
    const machine = readMachineName(env.home);
    const { document, account } = place;
    return (await memoryHistory({ db, document, account, machine }, key))[0]?.revision;
  });
  const layers = layer === "project" ? "" : ` --layer ${layer}`;
  const restore =
    kept === undefined ? undefined : `memsync restore ${shellWord(key)} ${kept}${layers}`;
  const whatIsBack = leftHeld ? "what was there before that" : "it";
  const said = why ? `(not shown: it ${why})` : passageOf(memory.value, "", FIRST_LINE_MAX);
  return {
    text: framed([
      scopeLine(scope),
      `deleted: ${key}`,
      { quoted: said },
      ...(leftHeld ? [sayLeftHeld(leftHeld)] : []),
      ...(restore ? [`Its user gets ${whatIsBack} back by: ${restore}`] : []),
    ]),
    data: {
      ...scopeJson(scope),
      status: "deleted",
      key,
      layer,
      revision: kept ?? null,
      value: said,
      restore: restore ?? null,
      ...(leftHeld && { left_held: leftHeld }),
    },
  };
}

/** A word for a shell, in one line. */
function shellWord(key: string): string {
  if (visible(key) !== key) {
    const written = key.replace(/[\\']/g, "\\$&").replace(/[\t\u0080-\u009f]/g, (each) => {
      return `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`;
    });
    return `-- $'${visible(written)}'`;
  }
  return /^[\w./:@][\w./:@-]*$/.test(key) ? key : `-- '${key.replaceAll("'", `'\\''`)}'`;
}
