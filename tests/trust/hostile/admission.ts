import { deepEqual, equal, ok } from "node:assert/strict";
import * as Y from "yjs";
import { admitUpdate } from "../../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { pick } from "../../support/random.ts";
import { viewOf } from "../../support/replicas.ts";
import { forgeAnything } from "./forgeries.ts";
import { below, mutateBytes } from "./mutate.ts";
import { CLIENTS, realHistory } from "./real-history.ts";

const OWN = 1;
/** A document is looked at as a whole after so many inputs. */
const INPUTS_BETWEEN_LOOKS = 200;

/** What became of many updates. */
export interface AdmissionReport {
  readonly inputs: number;
  readonly admitted: number;
  readonly refused: number;
  readonly missing: number;
  readonly slowestMs: number;
}

interface Held {
  readonly document: ReplicaDocument;
  readonly state: Uint8Array;
  readonly view: string;
}

/**
 * Gives mutated and forged updates to the admission. Throws when one is not refused and can't be
 * taken in soundly, or when one that was refused has changed anything.
 */
export function attackAdmission(random: () => number, inputs: number): AdmissionReport {
  const history = realHistory();
  const held = heldAlong(history);
  const counts = { admitted: 0, refused: 0, missing: 0 };
  let slowestMs = 0;
  for (let at = 0; at < inputs; at++) {
    const { index, document, state } = pick(random, held);
    const update = anyUpdate(random, history, index);
    const startedAt = performance.now();
    const { kind } = admitUpdate(document, update, OWN);
    if (kind === "admitted") takeIn(state, update);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    counts[kind]++;
    if (at % INPUTS_BETWEEN_LOOKS === 0 || at === inputs - 1) for (const each of held) look(each);
  }
  return { inputs, ...counts, slowestMs };
}

/** The document as it was at several times. */
function heldAlong(history: readonly Uint8Array[]): (Held & { readonly index: number })[] {
  const step = Math.ceil(history.length / 8);
  const indexes = history.map((_, index) => index).filter((index) => index % step === 0);
  return indexes.map((index) => {
    const document = new ReplicaDocument(history.slice(0, index), OWN);
    const state = Y.encodeStateAsUpdate(document.ydoc);
    return { index, document, state, view: JSON.stringify(viewOf(document)) };
  });
}

function look({ document, state, view }: Held): void {
  equal(JSON.stringify(viewOf(document)), view, "what was not taken in changed nothing");
  deepEqual(Y.encodeStateAsUpdate(document.ydoc), state);
}

function anyUpdate(
  random: () => number,
  history: readonly Uint8Array[],
  index: number,
): Uint8Array {
  if (random() < 0.3) return forgeAnything(random, [...CLIENTS, OWN, 13]);
  const near = Math.min(index + below(random, 3), history.length - 1);
  const update = history[near] ?? new Uint8Array();
  return mutateBytes(random, update, pick(random, history));
}

/** An admitted update leaves a document that is whole, and is the same when loaded anew. */
function takeIn(state: Uint8Array, update: Uint8Array): void {
  const document = new ReplicaDocument([state], OWN);
  Y.applyUpdate(document.ydoc, update, "remote");
  ok(!document.hasPending(), "an admitted update needs nothing more");
  equal(document.ydoc.clientID, OWN, "nobody else has this client id");
  const loaded = new ReplicaDocument([Y.encodeStateAsUpdate(document.ydoc)], OWN);
  deepEqual(viewOf(loaded), viewOf(document));
}
