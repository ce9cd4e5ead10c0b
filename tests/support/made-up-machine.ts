import * as Y from "yjs";
import {
  type Arrival,
  changeBetween,
  newIn,
  UNSEEN_MS,
} from "../../daemon/files/arrivals/arrivals.ts";
import type { FileState } from "../../daemon/files/lines/file-state.ts";
import { rangesOutside, without } from "../../daemon/files/lines/span-set.ts";
import { linesOf, splitLines } from "../../daemon/files/lines/text-lines.ts";
import { planSave } from "../../daemon/files/saves/plan-save.ts";
import type { NewTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { removeDoubles } from "../../shared/replica/merge/doubles.ts";
import type { IdRanges } from "../../shared/replica/text/id-ranges.ts";
import { PLAIN_FORM } from "../../shared/replica/text/text-form.ts";
import { idsSince } from "./ids-since.ts";

/**
 * A machine with one followed file, in memory and without git: the pure parts of following put
 * together as the daemon does, so that thousands of made-up people can be tried.
 */
export class MadeUpMachine {
  readonly document: ReplicaDocument;
  readonly conflicts: Pick<NewTextConflict, "kind" | "versions">[] = [];
  /** The clocks that the service has, and so everybody may have. */
  #sent = new Map<number, number>();
  #state: FileState;
  #arrivals: Arrival[] = [];

  constructor(
    readonly name: string,
    client: number,
    start: Uint8Array,
  ) {
    this.document = new ReplicaDocument([start], client);
    this.#sent = this.#clocks();
    this.#state = this.#captured();
  }

  get file(): string {
    return this.#state.base.text;
  }

  get text(): string {
    return this.document.text.toString();
  }

  /** What came into the file less than a minute before `now`. */
  unseenAt(now: number): Arrival[] {
    return this.#arrivals.filter(({ at }) => now - at < UNSEEN_MS);
  }

  /** Somebody saves the file, which is taken and then written where the document has more. */
  save(lines: string, now: number): void {
    const { base } = this.#state;
    const author = { machine: this.name };
    const live = this.document.captureText();
    const unseen = this.unseenAt(now);
    const isPulled = false;
    const plan = planSave({ base, live, lines, unseen, author, savedAt: now, isPulled });
    const outside = rangesOutside(live, plan.base);
    const before = this.#clocks();
    const edited = this.document.editText(plan.base, plan.lines);
    const mine = idsSince(before, this.#clocks());
    if (mine.size > 0) this.#cleanUp(mine, outside, now);
    this.conflicts.push(...plan.conflicts);
    const rest = linesOf(edited)[Symbol.iterator]();
    const saved = splitLines(lines).map((text, at) => {
      const spans = [{ client: null, clock: 0, length: text.length }];
      return plan.leftOut.has(at) ? { text, spans } : (rest.next().value ?? { text, spans });
    });
    for (const [at, arrival] of plan.moved) {
      const brought = without(saved[at]?.spans ?? [], arrival.brought);
      if (brought.length > 0) this.#arrive({ ...NOTHING, brought }, arrival.at);
    }
    const spans = saved.flatMap((line) => line.spans);
    this.#state = { hash: "", base: { text: lines, spans }, form: PLAIN_FORM };
    this.#writeBack(now);
  }

  /** Exchanges with the service. */
  sync(service: Y.Doc, now: number): void {
    const update = Y.encodeStateAsUpdate(service, Y.encodeStateVector(this.document.ydoc));
    const mine = idsSince(this.#sent, this.#clocks());
    const known = this.#clocks();
    this.document.change("remote", () => {
      Y.applyUpdate(this.document.ydoc, update, "remote");
      const theirs = idsSince(known, this.#clocks());
      if (mine.size > 0 && theirs.size > 0) this.#cleanUp(mine, theirs, now);
    });
    Y.applyUpdate(service, Y.encodeStateAsUpdate(this.document.ydoc));
    this.#sent = this.#clocks();
    this.#writeBack(now);
  }

  #cleanUp(mine: IdRanges, theirs: IdRanges, now: number): void {
    const { met, conflicts } = removeDoubles(this.document.text, mine, { theirs });
    if (met.length > 0) this.#arrive({ ...NOTHING, brought: met }, now);
    for (const each of conflicts) {
      const versions = [
        { ...each.mine, machine: this.name },
        { ...each.theirs, machine: undefined },
      ] as const;
      this.conflicts.push({ kind: "both", versions });
    }
  }

  #writeBack(now: number): void {
    const next = this.#captured();
    const between = changeBetween(this.#state, next);
    const change = between && newIn(between, this.#arrivals);
    const isSame = next.base.text === this.#state.base.text;
    if (change) this.#arrive(isSame ? { ...NOTHING, brought: change.brought } : change, now);
    this.#state = next;
  }

  #arrive(change: Omit<Arrival, "id" | "at" | "machine">, at: number): void {
    this.#arrivals.push({ ...change, id: this.#arrivals.length, at, machine: "another" });
  }

  #captured(): FileState {
    return { hash: "", base: this.document.captureText(), form: PLAIN_FORM };
  }

  #clocks(): Map<number, number> {
    return Y.decodeStateVector(Y.encodeStateVector(this.document.ydoc));
  }
}

const NOTHING = { brought: [], taken: [], moved: [], former: undefined } as const;
