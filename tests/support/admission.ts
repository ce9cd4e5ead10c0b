import { expect } from "bun:test";
import * as Y from "yjs";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import {
  CONTENT,
  type Forged,
  type ForgedItem,
  forge,
  item,
  text,
  values,
} from "./forged-update.ts";
import { NOW, reloaded, viewOf } from "./replicas.ts";

/** The client ids of this replica, of what it holds, and of what comes. */
export const OWN = 1;
export const HELD = 2;
export const NEW = 3;

/** A document with a text (clocks 0 to 9 of `HELD`), a memory (10) and metadata (11). */
export function heldDocument(): ReplicaDocument {
  const writer = new ReplicaDocument([], HELD);
  writer.setContent("one\n2 😀\n\n", NOW);
  writer.setEntry("memories", "a", { value: "1", now: NOW });
  writer.setEntry("metadata", "m", { value: { x: 1 }, now: NOW });
  return new ReplicaDocument([Y.encodeStateAsUpdate(writer.ydoc)], OWN);
}

/** An entry as a replica writes it. */
export const ENTRY = { key: "k", value: "v", created_at: NOW, updated_at: NOW };

/** The first entry of `NEW`, with some of its fields changed. */
export function entry(change: Readonly<Record<string, unknown>>): ForgedItem {
  return { ref: CONTENT.any, parent: `memories/${NEW}`, content: values({ ...ENTRY, ...change }) };
}

/** The first metadata entry of `NEW`. */
export function metadata(value: unknown): ForgedItem {
  const content = values({ ...ENTRY, value });
  return { ref: CONTENT.any, parent: `metadata/${NEW}`, content };
}

/** A line for the text. */
export function insertion(change: Partial<ForgedItem>): ForgedItem {
  return { ref: CONTENT.string, content: text("x\n"), ...change };
}

/** What becomes of an update; where it is not admitted, the document is as it was. */
export function admit(document: ReplicaDocument, update: Uint8Array): string {
  const before = viewOf(document);
  const vector = Y.encodeStateVector(document.ydoc);
  const admission = admitUpdate(document, update, OWN);
  expect(viewOf(document)).toEqual(before);
  expect(Y.encodeStateVector(document.ydoc)).toEqual(vector);
  if (admission.kind === "refused") return admission.message;
  return admission.kind === "admitted" ? `admitted, adds: ${admission.adds}` : admission.kind;
}

/** What becomes of an update that brings these as the first items of `NEW`. */
export function admitItems(...items: readonly ForgedItem[]): string {
  const sections = [{ client: NEW, clock: 0, structs: items.map(item) }];
  return admit(heldDocument(), forge({ sections }));
}

/** What becomes of a forged update of the held document. */
export function admitForged(forged: Forged): string {
  return admit(heldDocument(), forge(forged));
}

/** Takes an admitted update in and checks that the document is sound afterwards. */
export function takeIn(document: ReplicaDocument, update: Uint8Array): void {
  Y.applyUpdate(document.ydoc, update, "remote");
  expect(document.hasPending()).toBeFalse();
  expect(document.ydoc.clientID).toBe(OWN);
  expect(viewOf(reloaded(document))).toEqual(viewOf(document));
}
