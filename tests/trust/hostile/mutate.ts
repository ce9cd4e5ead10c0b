import { pick } from "../../support/random.ts";

type Random = () => number;

/** A whole number from 0 to below `end`. */
export function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

const BYTES = [0, 1, 0x7f, 0x80, 0xfe, 0xff] as const;
const CHANGES_MAX = 4;

/** A copy with a few bytes changed, put in, taken out, repeated or cut off. */
export function mutateBytes(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  let mutated = [...bytes];
  for (let left = 1 + below(random, CHANGES_MAX); left > 0; left--) {
    mutated = mutateOnce(random, mutated, other);
  }
  return Uint8Array.from(mutated);
}

function mutateOnce(random: Random, bytes: readonly number[], other: Uint8Array): number[] {
  const at = below(random, bytes.length + 1);
  const length = below(random, 12);
  const byte = random() < 0.5 ? pick(random, BYTES) : below(random, 256);
  const before = bytes.slice(0, at);
  const changes = [
    () => [...before, byte, ...bytes.slice(at + 1)],
    () => [...before, (bytes[at] ?? 0) ^ (1 << below(random, 8)), ...bytes.slice(at + 1)],
    () => [...before, ...Array.from({ length }, () => byte), ...bytes.slice(at)],
    () => [...before, ...bytes.slice(at + length)],
    () => [...before, ...bytes.slice(at, at + length), ...bytes.slice(at)],
    () => before,
    () => [...before, ...other.slice(below(random, other.length))],
  ];
  return pick(random, changes)();
}

/** What stands where something else was expected. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  "",
  "\0",
  "\ud800",
  "😀".repeat(50),
  "x".repeat(40_000),
  "../../etc/passwd",
  "proj_main",
  "mem_",
  "2026-01-01",
  [],
  {},
  [[[[]]]],
  { constructor: { prototype: {} } },
];

/** The JSON text of `value` after a change of its structure, or of its text. */
export function mutateJson(random: Random, value: unknown): string {
  if (random() < 0.3) {
    const text = Buffer.from(JSON.stringify(value));
    return Buffer.from(mutateBytes(random, text, text)).toString("utf8");
  }
  const copy: unknown = structuredClone(value);
  for (let left = 1 + below(random, 2); left > 0; left--) changeInside(random, copy);
  const text = JSON.stringify(copy);
  return random() < 0.1 ? text.replace("{", '{"__proto__":{"polluted":true},') : text;
}

function changeInside(random: Random, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const inside = value as Record<string, unknown>;
  const keys = Object.keys(inside);
  if (keys.length === 0) return;
  const key = pick(random, keys);
  const deeper = inside[key];
  if (typeof deeper === "object" && deeper !== null && random() < 0.7) {
    changeInside(random, deeper);
    return;
  }
  const changes = [
    () => Reflect.deleteProperty(inside, key),
    () => Reflect.set(inside, key, structuredClone(pick(random, ODD))),
    () => Reflect.set(inside, key, [deeper, deeper]),
    () => Reflect.set(inside, `${key}x`, deeper),
    () => Reflect.set(inside, key, { [key]: deeper }),
  ];
  pick(random, changes)();
}

/** JSON that is nested so deep that a careless reader falls over. */
export function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}
