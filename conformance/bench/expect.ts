import { Broken } from "./broken.ts";
import type { Exchange } from "./exchange.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Statuses of success where none is published, the likeliest first. */
const SUCCESS = [200, 201, 204];

/** Throws `Broken` unless the answer has one of these statuses. */
export function expectStatus(exchange: Exchange, ...statuses: readonly number[]): void {
  if (!statuses.includes(exchange.status)) {
    throw new Broken(exchange, `status ${statuses.join(" or ")}`);
  }
}

/** Whether the call succeeded. The specification leaves the status of success open. */
export function isDone({ status }: Exchange): boolean {
  return SUCCESS.includes(status);
}

/** Throws `Broken` unless the call succeeded: 200 for a GET, otherwise 200, 201 or 204. */
export function expectDone(exchange: Exchange): void {
  if (exchange.method === "GET") expectStatus(exchange, 200);
  else expectStatus(exchange, ...SUCCESS);
}

/** Throws `Broken`, with what was expected in words, unless `condition` holds. */
export function expectThat(
  exchange: Exchange,
  condition: boolean,
  { expected, got }: { readonly expected: string; readonly got?: string | undefined },
): void {
  if (!condition) throw new Broken(exchange, expected, got);
}

/** The body of a successful call, as an object. */
export function objectOf(exchange: Exchange): Fields {
  expectDone(exchange);
  if (isObject(exchange.json)) return exchange.json;
  throw new Broken(exchange, "a JSON object");
}

/** An array of objects in the body. */
export function objectsIn(exchange: Exchange, field: string): readonly Fields[] {
  const list = objectOf(exchange)[field];
  if (Array.isArray(list) && list.every(isObject)) return list;
  throw new Broken(exchange, `${field}, an array of objects`);
}

/** A string in the body. */
export function stringIn(exchange: Exchange, field: string): string {
  const value = objectOf(exchange)[field];
  if (typeof value === "string") return value;
  throw new Broken(exchange, `${field}, a string`);
}

/** Throws `Broken` unless a text came back unchanged. Says where it differs. */
export function expectSame(
  exchange: Exchange,
  what: string,
  { sent, got }: { readonly sent: unknown; readonly got: unknown },
): void {
  if (sent === got) return;
  const expected = `${what} as it was sent: ${JSON.stringify(sent)}`;
  throw new Broken(exchange, expected, got === undefined ? "none" : JSON.stringify(got));
}

/** How many objects, at whatever depth of the body, have this `id`. */
export function countOfId(value: unknown, id: string): number {
  if (Array.isArray(value)) return value.reduce((sum, each) => sum + countOfId(each, id), 0);
  if (!isObject(value)) return 0;
  return Number(value.id === id) + countOfId(Object.values(value), id);
}

/** Whether it is a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
