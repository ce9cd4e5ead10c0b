import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { writeOffline, writeToInbox } from "./offline-write.ts";
import { type Place, withLocal } from "../place/place.ts";
import { refuseDeleted } from "./refuse-deleted.ts";

/** Saves a memory through the gateway, or into the inbox where no daemon runs. */
export async function saveMemory(
  env: Environment,
  place: Place,
  key: string,
  value: string,
  { allowSecret = false }: { readonly allowSecret?: boolean } = {},
): Promise<void> {
  const { layer, document, remote } = place;
  const well = value.toWellFormed();
  assertSavable(key, well);
  const daemon = await findDaemon(env.home);
  if (!daemon || allowSecret || (well === "" && layer !== "project")) {
    await writeOffline(env.home, place, key, well, allowSecret);
    return;
  }
  if (layer === "project") await withLocal(env, (db) => refuseDeleted(db, document));
  if (well === "") {
    // Only a sync may carry an empty value.
    await daemon.call("POST", `/api/projects/${document}/sync`, { memories: [{ key, value: "" }] });
    return;
  }
  const project = layer === "project" ? { project_id: document } : {};
  await daemon.call("POST", "/v1/memories", { key, content: well, layer, ...project }, { remote });
}

/** What the interface would refuse is refused without a daemon, too. */
function assertSavable(key: string, value: string): void {
  if (key === "") throw new CommandFailed("the key is empty: name the memory");
  if (`${key}${value}`.includes("\0")) throw new CommandFailed("a NUL character can't be saved");
  if (exceedsBytes(key, LIMITS.memoryKeyBytes)) {
    throw new CommandFailed(`the key is over ${LIMITS.memoryKeyBytes} bytes: shorten it`);
  }
  if (exceedsBytes(value, LIMITS.memoryValueBytes)) {
    throw new CommandFailed(`the value is over ${LIMITS.memoryValueBytes} bytes: split it`);
  }
}

/**
 * Replaces the text of a project's document, by way of the inbox, to which a daemon that runs is
 * told to look: the interface has no call that says from which text, `base`, the new one was made,
 * and lines that came since that was read are to stay. Of several values each is made of the one
 * before, and nobody else sees any but the last.
 */
export async function saveText(
  { home }: Environment,
  document: string,
  base: string,
  ...values: readonly string[]
): Promise<void> {
  if (values.some((value) => exceedsBytes(value, LIMITS.claudeMdBytes))) {
    throw new CommandFailed(`the text is over ${LIMITS.claudeMdBytes} bytes: shorten it`);
  }
  const writtenAt = realWorld.now();
  await writeToInbox(home, async (db) => {
    await refuseDeleted(db, document);
    return values.map((value, at) => {
      return { kind: "text", document, base: values[at - 1] ?? base, value, writtenAt };
    });
  });
}
