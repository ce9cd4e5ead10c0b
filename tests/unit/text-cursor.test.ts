import { expect, test } from "bun:test";
import * as Y from "yjs";
import { TextCursor } from "../../shared/replica/text/text-cursor.ts";
import type { DeltaStep } from "../../shared/replica/text/text-delta.ts";
import { chunksOf } from "../../shared/turns.ts";
import { pick, seededRandom } from "../support/random.ts";

const PIECES = ["a", "bc\n", "é😀", "four", "\n"];

/** A text that several clients have written, and deleted some of. */
function writtenText(random: () => number): Uint8Array {
  const docs = [1, 2, 3].map((client) => {
    const doc = new Y.Doc();
    doc.clientID = client;
    return doc;
  });
  for (let edit = Math.floor(random() * 30); edit > 0; edit--) {
    const doc = pick(random, docs);
    const text = doc.getText("text");
    const at = Math.floor(random() * (text.length + 1));
    if (random() < 0.6) text.insert(at, pick(random, PIECES));
    else text.delete(at, Math.min(text.length - at, Math.floor(random() * 4)));
    const other = pick(random, docs);
    if (random() < 0.5) Y.applyUpdate(other, Y.encodeStateAsUpdate(doc));
  }
  const [all = new Y.Doc(), ...others] = docs;
  for (const doc of others) Y.applyUpdate(all, Y.encodeStateAsUpdate(doc));
  return Y.encodeStateAsUpdate(all);
}

function stepsFor(random: () => number, length: number): DeltaStep[] {
  const steps: DeltaStep[] = [];
  let left = length;
  for (let count = Math.floor(random() * 12); count > 0; count--) {
    const passed = Math.min(left, 1 + Math.floor(random() * 5));
    if (random() < 0.4) steps.push({ insert: pick(random, PIECES) });
    else if (passed > 0) {
      left -= passed;
      steps.push(random() < 0.5 ? { retain: passed } : { delete: passed });
    }
  }
  return steps;
}

function copyOf(state: Uint8Array) {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  doc.clientID = 9;
  const text = doc.getText("text");
  return { doc, text };
}

/** `MEMSYNC_SEED=1` tries that one; a failure prints its own. */
test("the cursor writes what a delta writes, in one transaction and in many", () => {
  const seed = Number(process.env.MEMSYNC_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  for (let round = 0; round < 600; round++) {
    const state = writtenText(random);
    const [byDelta, atOnce, inParts] = [copyOf(state), copyOf(state), copyOf(state)];
    const steps = stepsFor(random, byDelta.text.length);
    byDelta.text.applyDelta(steps);
    new TextCursor(atOnce.text).apply(steps);
    const cursor = new TextCursor(inParts.text);
    for (const some of chunksOf(steps, 1 + Math.floor(random() * 3))) cursor.apply(some);
    const expected = Buffer.from(Y.encodeStateAsUpdate(byDelta.doc)).toString("hex");
    const found = Buffer.from(Y.encodeStateAsUpdate(atOnce.doc)).toString("hex");
    expect({ seed, round, found }).toEqual({ seed, round, found: expected });
    expect({ seed, round, steps, text: inParts.text.toString() }).toEqual({
      seed,
      round,
      steps,
      text: byDelta.text.toString(),
    });
    for (const { doc, text } of [byDelta, inParts]) {
      // What is looked up by an index is found where it is now.
      text.insert(Math.floor(text.length / 2), "x");
      text.delete(0, Math.min(text.length, 2));
      doc.clientID = 10;
    }
    const parts = copyOf(Y.encodeStateAsUpdate(inParts.doc)).doc;
    const whole = copyOf(Y.encodeStateAsUpdate(byDelta.doc)).doc;
    const same = [whole, parts].map((doc) => ({
      text: doc.getText("text").toString(),
      snapshot: Buffer.from(Y.encodeSnapshot(Y.snapshot(doc))).toString("hex"),
    }));
    expect({ seed, round, ...same[1] }).toEqual({ seed, round, ...same[0] } as never);
  }
});
