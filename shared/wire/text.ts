import { Kind, type TUnsafe, Type, TypeRegistry } from "@sinclair/typebox";
import { exceedsBytes } from "../limits.ts";

const KIND = "MemsyncText";

/** The rules for a text. An absent rule allows everything. */
export interface TextRules {
  /** Refuse the empty string. */
  readonly nonEmpty?: true;
  /** At most this many bytes of UTF-8. */
  readonly bytesMax?: number;
  /** The pattern that the whole text must match; `expected` describes it. */
  readonly pattern?: RegExp;
  /** A check that a pattern can't make; `expected` describes it. */
  readonly accepts?: (text: string) => boolean;
  /** Completes "must be …" when `pattern` or `accepts` refuses. */
  readonly expected?: string;
}

interface TextSchema {
  readonly [KIND]: TextRules;
}

/** What a published schema says about itself. Nothing is checked by it. */
export interface Annotations {
  readonly description?: string;
  readonly format?: string;
}

/**
 * A string of a request: without NUL characters, within its limits. The rules are stored beside
 * plain JSON Schema keywords, so that the schema can be published unchanged.
 */
export function text<T extends string = string>(
  rules: TextRules = {},
  annotations: Annotations = {},
): TUnsafe<T> {
  return Type.Unsafe<T>({
    ...annotations,
    [Kind]: KIND,
    [KIND]: rules,
    type: "string",
    ...(rules.nonEmpty && { minLength: 1 }),
    ...(rules.bytesMax !== undefined && { maxLength: rules.bytesMax }),
    ...(rules.pattern && { pattern: rules.pattern.source }),
  });
}

/** The rules of a schema made by `text`; undefined for any other. */
export function textRulesOf(schema: object): TextRules | undefined {
  // No schema but one that `text` made has this key.
  return (schema as Partial<TextSchema>)[KIND];
}

/** Completes "must …" for a value that breaks the rules; undefined for a correct one. */
export function textProblem(rules: TextRules, value: unknown): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (rules.nonEmpty && value === "") return "must not be empty";
  if (rules.bytesMax !== undefined && exceedsBytes(value, rules.bytesMax)) {
    return `must be at most ${rules.bytesMax} bytes of UTF-8`;
  }
  if (value.includes("\0")) return "must not contain a NUL character";
  const fits = rules.pattern?.test(value) ?? true;
  if (!fits || rules.accepts?.(value) === false)
    return `must be ${rules.expected ?? "well formed"}`;
  return undefined;
}

TypeRegistry.Set<TextSchema>(
  KIND,
  (schema, value) => textProblem(schema[KIND], value) === undefined,
);
