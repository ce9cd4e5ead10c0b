import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as Y from "yjs";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { readPosition, writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { applyFrame, type Echoes } from "../../daemon/sync/incoming.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { createTestWorld } from "../support/test-world.ts";

const SERVICE = "service";
const EPOCH = "e".repeat(32);
const ADDRESS = { owner: LOCAL_ACCOUNT, name: "proj_a" };
const OTHERS_CLIENT = 77;

let store: ReplicaStore<DaemonTables>;
let echoes: Echoes;

beforeEach(async () => {
  store = await openReplica(":memory:", createTestWorld());
  echoes = new Map();
});

afterEach(() => store.close());

function inDocument<Result>(
  work: (context: WriteContext<DaemonTables>, open: OpenDocument) => Promise<Result>,
): Promise<Result> {
  return store.write(async (context) => await work(context, await context.open(ADDRESS)));
}

/** A machine that stands at row 1 of the service's log and has just sent this write. */
async function sendOwn(): Promise<Uint8Array> {
  await inDocument(async ({ db, now }, open) => {
    open.document.setEntry("memories", "mine", { value: "1", now });
    const remote = { epoch: EPOCH, seq: 1 };
    await writePosition(db, SERVICE, {
      documentId: open.id,
      position: { remote, ackedSeq: 0, refused: undefined },
    });
  });
  return await inDocument(async (_, open) => Y.encodeStateAsUpdate(open.document.ydoc));
}

function othersWrite(): Uint8Array {
  const document = new ReplicaDocument([], OTHERS_CLIENT);
  document.setEntry("memories", "theirs", { value: "2", now: 0 });
  return Y.encodeStateAsUpdate(document.ydoc);
}

const take = (seq: number, update: Uint8Array, epoch = EPOCH) =>
  inDocument((context, open) =>
    applyFrame(context, SERVICE, { open, frame: { epoch, seq, update }, echoes }),
  );

const storedSeq = () =>
  inDocument(async ({ db }, open) => (await readPosition(db, SERVICE, open.id)).remote?.seq);

describe("a live frame", () => {
  test("a live frame that is the next row is taken with its position, and known from then on", async () => {
    await sendOwn();
    expect(await take(2, othersWrite())).toBe("taken");
    expect(await storedSeq()).toBe(2);
    expect(await take(2, othersWrite())).toBe("known");
  });

  test("a live frame that is not the next row, or is of another epoch, is a reason to fetch", async () => {
    await sendOwn();
    expect(await take(3, othersWrite())).toBe("fetch");
    expect(await take(2, othersWrite(), "f".repeat(32))).toBe("fetch");
    expect(await storedSeq()).toBe(1);
  });

  test("a live frame that echoes this machine's own write stores nothing, and the next one is taken", async () => {
    const own = await sendOwn();
    expect(await take(2, own)).toBe("known");
    expect(await storedSeq()).toBe(1);
    expect(await take(3, othersWrite())).toBe("taken");
    expect(await storedSeq()).toBe(3);
  });

  test("after an echo of another epoch is judged by the stored position", async () => {
    await sendOwn();
    await inDocument(async (_, open) => {
      echoes.set(open.id, { epoch: "f".repeat(32), seq: 9 });
    });
    expect(await take(2, othersWrite())).toBe("taken");
  });
});
