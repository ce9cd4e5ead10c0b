import { join } from "node:path";
import PouchDB from "pouchdb";
import { serve } from "./serve.mjs";

// A replica in LevelDB, as Node programs have it, and a database on a pouchdb-server.
const [url, folder] = process.argv.slice(2);
const options = { skip_setup: false };
const local = new PouchDB(join(folder, "local"));
let replication;

serve({
  /** Saves memories here and replicates them; from then on each change is replicated at once. */
  async fill({ memories }) {
    const documents = memories.map(({ key, value }) => ({ _id: key, value }));
    await local.bulkDocs(documents);
    await local.replicate.to(new PouchDB(url, options));
    replication = local.replicate.to(new PouchDB(url, options), { live: true });
    await new Promise((resolve) => replication.once("paused", resolve));
  },

  /** From before one change to its replication, in milliseconds. */
  async change({ key, value }) {
    const paused = new Promise((resolve) => replication.once("paused", resolve));
    const startedAt = performance.now();
    const replicated = new Promise((resolve) => {
      replication.once("change", () => resolve(performance.now() - startedAt));
    });
    const { _rev } = await local.get(key);
    await local.put({ _id: key, _rev, value });
    const tookMs = await replicated;
    await paused;
    return { tookMs };
  },

  /** Fetches everything into an empty replica: how long it takes, in milliseconds. */
  async first() {
    const startedAt = performance.now();
    const empty = new PouchDB(join(folder, "empty"));
    await empty.replicate.from(new PouchDB(url, options));
    const tookMs = performance.now() - startedAt;
    const { doc_count: documents } = await empty.info();
    return { tookMs, documents };
  },
});
