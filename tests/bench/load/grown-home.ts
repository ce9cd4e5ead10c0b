import { openReplica } from "../../../daemon/home/open-replica.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { ADDRESS } from "./grow-load.ts";

/** How long a home's document takes to load, in milliseconds. */
export interface Loaded {
  readonly tookMs: number;
  readonly memories: number;
}

// Opens a home's database, loads the document and holds it until it is ended.
const [path = ""] = process.argv.slice(2);
const store = await openReplica(path, realWorld);
const startedAt = performance.now();
const memories = await store.write(async (context) => {
  return (await context.open(ADDRESS)).document.memories.size;
});
const loaded: Loaded = { tookMs: performance.now() - startedAt, memories };
process.stdout.write(`${JSON.stringify(loaded)}\n`);
setInterval(() => undefined, 2 ** 30);
