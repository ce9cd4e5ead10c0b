import {
  bare,
  CONTENT,
  type Forged,
  forge,
  item,
  length,
  text,
  values,
} from "../../support/forged-update.ts";
import { pick } from "../../support/random.ts";
import { below } from "./mutate.ts";

type Random = () => number;
type Section = NonNullable<Forged["sections"]>[number];

/** An update that is well encoded and says whatever comes to mind, about `clients` too. */
export function forgeAnything(random: Random, clients: readonly number[]): Uint8Array {
  const client = () => (random() < 0.7 ? pick(random, clients) : below(random, 2 ** 32));
  const sections = Array.from({ length: below(random, 3) }, () => anySection(random, client));
  const deletions = Array.from({ length: below(random, 2) }, () => ({
    client: client(),
    ranges: Array.from({ length: below(random, 3) }, () => [clock(random), clock(random)] as const),
  }));
  return forge({ sections, deletions });
}

function clock(random: Random): number {
  return random() < 0.8 ? below(random, 30) : 2 ** below(random, 53);
}

function anySection(random: Random, client: () => number): Section {
  const structs = Array.from({ length: 1 + below(random, 4) }, () => anyStruct(random, client));
  return { client: client(), clock: clock(random), structs };
}

function anyStruct(random: Random, client: () => number) {
  if (random() < 0.1) return bare(pick(random, [CONTENT.gc, CONTENT.skip]), clock(random));
  const id = () => [client(), clock(random)] as const;
  const parent = pick(random, ["claude_md", "metadata/1", `memories/${client()}`, "other", ""]);
  return item({
    ...(random() < 0.6 && { origin: id() }),
    ...(random() < 0.4 && { rightOrigin: id() }),
    ...(random() < 0.1 && { parentSub: "key" }),
    parent: random() < 0.1 ? id() : parent,
    ...anyContent(random),
  });
}

function anyContent(random: Random) {
  const entry = { key: "k", value: "v", created_at: 1, updated_at: 2 ** below(random, 60) };
  const contents = [
    { ref: CONTENT.string, content: text("a line\n") },
    { ref: CONTENT.string, content: text(pick(random, ["", "\ud83d", "\0", "x".repeat(5000)])) },
    { ref: CONTENT.any, content: values(entry) },
    { ref: CONTENT.any, content: values({ ...entry, key: pick(random, ["", "__proto__", "a"]) }) },
    { ref: CONTENT.any, content: values(pick(random, [null, 1, [], "text", {}])) },
    { ref: CONTENT.deleted, content: length(clock(random)) },
    { ref: below(random, 32), content: length(below(random, 5)) },
  ];
  return pick(random, contents);
}
