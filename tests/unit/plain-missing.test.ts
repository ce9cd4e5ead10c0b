import { afterEach, beforeEach, expect, test } from "bun:test";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { settle, startPlain } from "../support/plain-cluster.ts";
import type { Machine, SyncCluster } from "../support/sync-cluster.ts";

let cluster: SyncCluster;
let first: Machine;
let second: Machine;

beforeEach(async () => {
  [cluster, first, second] = await startPlain();
});

afterEach(() => cluster.stop());

function view({ document: { memories }, document }: OpenDocument) {
  const values = [...memories.keys()].map((key) => [key, memories.get(key).map((e) => e.value)]);
  return { text: document.content(), memories: Object.fromEntries(values) };
}

const set = (document: OpenDocument["document"], key: string, value: string) =>
  document.setEntry("memories", key, { value, now: 1 });

for (const restarted of [false, true]) {
  const when = restarted ? ", a restart later" : "";
  test(`a 404 that is over soon lets no old value win, and nothing come back${when}`, async () => {
    await first.edit(({ document }) => {
      document.setContent("# Title\n\none\n\ntwo\n", 1);
      for (const key of ["changed", "deleted", "kept"]) set(document, key, "old");
    });
    await settle(first, second);
    await first.edit(({ document }) => {
      document.setContent("# Title\n\ntwo, changed\n", 1);
      set(document, "changed", "new");
      document.deleteEntry("memories", "deleted");
    });
    cluster.intercept = () => Promise.resolve(Response.json({}, { status: 404 }));
    await expect(first.sync("none")).rejects.toThrow("404");
    cluster.intercept = undefined;
    if (restarted) await first.restart();
    await settle(first, second, first);
    const expected = {
      text: "# Title\n\ntwo, changed\n",
      memories: { changed: ["new"], kept: ["old"] },
    };
    expect(await first.read(view)).toEqual(expected);
    expect(await second.read(view)).toEqual(expected);
  });
}
