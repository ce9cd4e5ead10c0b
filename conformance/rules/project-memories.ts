import type { Bench } from "../bench/bench.ts";
import type { Exchange } from "../bench/exchange.ts";
import { expectSame, expectThat, objectsIn } from "../bench/expect.ts";
import { firstProject } from "./projects.ts";

/** A memory as a sync carries it. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/** The first project with its current memories. */
export async function readProject(bench: Bench): Promise<Exchange> {
  return await bench.get(`/api/projects/${await firstProject(bench)}`);
}

/**
 * A project's answer has these memories, each once and byte for byte.
 *
 * ```
 * expectMemories(await readProject(bench), [{ key: "build", value: "npm run build" }]);
 * ```
 */
export function expectMemories(exchange: Exchange, memories: readonly KeyValue[]): void {
  const shown = objectsIn(exchange, "memories");
  for (const { key, value } of memories) {
    const found = shown.filter((memory) => memory.key === key);
    const what = `the memory ${JSON.stringify(key)} once`;
    expectThat(exchange, found.length === 1, {
      expected: what,
      got: `it is there ${found.length} times`,
    });
    expectSame(exchange, `the value of ${JSON.stringify(key)}`, {
      sent: value,
      got: found[0]?.value,
    });
  }
}

/** A project's answer has no memory with one of these keys. */
export function expectNoMemories(exchange: Exchange, keys: readonly string[]): void {
  const shown = objectsIn(exchange, "memories").map(({ key }) => key);
  const found = keys.filter((key) => shown.includes(key));
  const what = `no memory with a key of ${JSON.stringify(keys)}`;
  expectThat(exchange, found.length === 0, {
    expected: what,
    got: `there is ${JSON.stringify(found)}`,
  });
}
