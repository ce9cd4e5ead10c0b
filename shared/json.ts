/** What JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object: neither an array nor null. */
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Reads JSON that this program wrote into its own database. For what anybody else wrote, parse and
 * look at the parts.
 */
export function parseStored<Value>(text: string): Value {
  // Only this program writes there, so what is read has the type of what was written.
  return JSON.parse(text) as Value;
}

/** Reads JSON. Throws what `JSON.parse` does. */
export function parseJson(text: string): JsonValue {
  return JSON.parse(text);
}

/** Whether a value is an object as JSON has them: neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two JSON values are equal, whatever the order of their objects' keys. */
export function equalJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const left = Object.entries(one);
  if (left.length !== Object.keys(other).length) return false;
  return left.every(([key, value]) => {
    if (!Object.hasOwn(other, key)) return false;
    // An array's keys are its indices, so both can be read as objects.
    return equalJson(value, (other as JsonObject)[key] as JsonValue);
  });
}
