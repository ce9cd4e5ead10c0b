import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { admitInSteps } from "../../shared/replica/admission/admit.ts";
import { decodeUpdate } from "../../shared/replica/admission/decode-update.ts";
import { applyPlaced } from "../../shared/replica/admission/placed-update.ts";
import { tryUpdate } from "../../shared/replica/admission/trial.ts";
import { ReplicaDocument, TEXT_ROOT } from "../../shared/replica/document/document.ts";
import { ITEMS_PER_STEP, inOneTurn } from "../../shared/steps.ts";
import { OWN } from "../support/admission.ts";
import { insertionsAtOnePlace } from "../support/forged-update.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const REPLICAS = 5;

/** Who does it, in which place of its text, and what: a letter, a deletion, or meeting another. */
const action = fc.tuple(fc.nat(REPLICAS - 1), fc.nat(40), fc.nat(9), fc.boolean());

test("what is applied by places that were found is what Yjs makes of it, in every byte", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 40, maxLength: 120 }), (actions) => {
      const docs = Array.from({ length: REPLICAS }, (_, at) => docOf(100 - at * 7, []));
      for (const [by, place, what, isPart] of actions) {
        const doc = docs[by] ?? new Y.Doc();
        const text = doc.getText(TEXT_ROOT);
        const at = place % (text.length + 1);
        if (what < 3) meet(doc, docs[place % REPLICAS] ?? doc, isPart);
        else if (what === 3) text.delete(at, Math.min(3, text.length - at));
        // The same few places all the time, as in a list that grows at its head.
        else text.insert(what < 8 ? Math.min(at, 1) : at, "abc".slice(0, 1 + (what % 3)));
      }
    }),
    { numRuns: 250 },
  );
});

/** Brings to `doc` what the other one has: all of it, or what it lacks alone. */
function meet(doc: Y.Doc, other: Y.Doc, isPart: boolean): void {
  const update = Y.encodeStateAsUpdate(other, isPart ? Y.encodeStateVector(doc) : undefined);
  const [plain, placed] = [0, 1].map(() => docOf(1, [Y.encodeStateAsUpdate(doc)]));
  if (!plain || !placed) return;
  const trial = inOneTurn(
    tryUpdate(placed.getText(TEXT_ROOT), placed.store, {
      update: decodeUpdate(update),
      integratedOf: (client) => Y.getState(placed.store, client),
      isInText: (struct): struct is Y.Item => struct instanceof Y.Item,
      isOrdered: false,
    }),
  );
  expect(trial.problem).toBeUndefined();
  applyPlaced(placed, update, { places: trial.places ?? new Map(), origin: "remote" });
  Y.applyUpdate(plain, update);
  expect(Y.encodeStateAsUpdate(placed)).toEqual(Y.encodeStateAsUpdate(plain));
  expect(placed.getText(TEXT_ROOT).toString()).toBe(plain.getText(TEXT_ROOT).toString());
  Y.applyUpdate(doc, update);
}

function docOf(clientId: number, updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  doc.clientID = clientId;
  return doc;
}

test("a long search for places takes many steps of a turn", () => {
  const held = new ReplicaDocument([insertionsAtOnePlace(1400, 1000)], OWN);
  const steps = admitInSteps(held, insertionsAtOnePlace(1400, 5_000_000), OWN);
  let taken = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) taken += 1;
  expect(step.value).toMatchObject({ kind: "admitted", steps: 1400 * 1401 - 1 });
  expect(taken).toBeGreaterThan((1400 * 1400) / (2 * ITEMS_PER_STEP));
});
