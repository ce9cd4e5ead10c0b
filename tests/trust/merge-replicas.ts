import * as Y from "yjs";
import { type CleanUp, removeDoubles } from "../../shared/replica/merge/doubles.ts";
import { captureText, editFromBase } from "../../shared/replica/text/text.ts";
import { idsSince } from "../support/ids-since.ts";
import type { Fork } from "./merge-data.ts";

const SERVER_ID = 5;

/** The document's text. */
export function textOf(doc: Y.Doc): Y.Text {
  return doc.getText("claude_md");
}

/** A replica that holds what `source` holds, and writes as `clientId`. */
export function replicaOf(source: Y.Doc, clientId: number): Y.Doc {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(source));
  doc.clientID = clientId;
  return doc;
}

/** A document whose text was written by one client, `SERVER_ID` unless told. */
export function documentOf(text: string, clientId = SERVER_ID): Y.Doc {
  const doc = new Y.Doc();
  doc.clientID = clientId;
  if (text !== "") textOf(doc).insert(0, text);
  return doc;
}

/** Saves a file over the version that it last had, which is the live one. */
export function save(doc: Y.Doc, content: string): void {
  const ytext = textOf(doc);
  editFromBase(ytext, captureText(ytext), content);
}

export function stateOf(doc: Y.Doc): Map<number, number> {
  return Y.decodeStateVector(Y.encodeStateVector(doc));
}

/**
 * `doc` pulls from `server`, cleans up in the same transaction what it has written since `agreed`
 * and the server has not held, and pushes.
 */
export function exchange(doc: Y.Doc, server: Y.Doc, agreed: Map<number, number>): CleanUp {
  const before = stateOf(doc);
  const mine = idsSince(agreed, before);
  const update = Y.encodeStateAsUpdate(server, Y.encodeStateVector(doc));
  const cleanUp = doc.transact(() => {
    Y.applyUpdate(doc, update);
    return removeDoubles(textOf(doc), mine, { theirs: idsSince(before, stateOf(doc)) });
  });
  Y.applyUpdate(server, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(server)));
  return cleanUp;
}

/** What became of a fork on two machines. */
export interface Merged extends CleanUp {
  readonly text: string;
  /** The text after the same clean-up was done once more. */
  readonly textCleanedAgain: string;
}

/**
 * Merges a fork as two machines do that make its two edits at the same time: the first in `order`
 * reaches the server first, the other pulls that edit, cleans up and pushes, the first pulls.
 * Throws unless all end with the same text.
 */
export function mergeOnTwoMachines(fork: Fork, ids = [11, 22], order = [0, 1]): Merged {
  return mergeInSteps(fork.base, [[fork.ours], [fork.theirs]], order, ids);
}

/** As `mergeOnTwoMachines`, where either machine makes several saves before they meet. */
export function mergeInSteps(
  base: string,
  saves: readonly (readonly string[])[],
  order = [0, 1],
  ids = [11, 22],
): Merged {
  const server = documentOf(base);
  const agreed = stateOf(server);
  const machines = saves.map((edits, i) => {
    const doc = replicaOf(server, ids[i] as number);
    for (const edit of edits) save(doc, edit);
    return doc;
  });
  const [first, last] = order.map((i) => machines[i]) as [Y.Doc, Y.Doc];
  exchange(first, server, agreed);
  const [mine, theirs] = [idsSince(agreed, stateOf(last)), idsSince(agreed, stateOf(first))];
  const cleanUp = exchange(last, server, agreed);
  exchange(first, server, stateOf(first));
  const text = agreedText([server, first, last]);
  removeDoubles(textOf(last), mine, { theirs });
  return { ...cleanUp, text, textCleanedAgain: textOf(last).toString() };
}

/** What two machines come to that hear of each other at once, and then of each other's clean-up. */
export function cleanedByBoth({ base, ours, theirs }: Fork): string {
  const server = documentOf(base);
  const agreed = stateOf(server);
  const [one, other] = [replicaOf(server, 11), replicaOf(server, 22)];
  save(one, ours);
  save(other, theirs);
  const copy = replicaOf(one, 33);
  exchange(one, replicaOf(other, 33), agreed);
  exchange(other, replicaOf(copy, 33), agreed);
  exchange(other, one, stateOf(copy));
  return agreedText([one, other]);
}

/** The text that all of them hold. Throws if they do not agree. */
export function agreedText(docs: readonly Y.Doc[]): string {
  const texts = new Set(docs.map((doc) => textOf(doc).toString()));
  if (texts.size !== 1) throw new Error("the replicas do not agree");
  return [...texts][0] as string;
}

/** As `mergeOnTwoMachines` for several edits of one base, which reach the server in `order`. */
export function mergeInOrder(base: string, edits: readonly string[], order: readonly number[]) {
  const server = documentOf(base);
  const agreed = stateOf(server);
  const machines = edits.map((edit, i) => {
    const doc = replicaOf(server, 11 * (i + 1));
    save(doc, edit);
    return doc;
  });
  for (const i of order) exchange(machines[i] as Y.Doc, server, agreed);
  for (const doc of machines) exchange(doc, server, stateOf(doc));
  return agreedText([server, ...machines]);
}
