import { KindGuard, type TSchema } from "@sinclair/typebox";
import { pointerToken } from "./parse.ts";

/** JSON Pointers to the fields of a body that none of its schemas has. */
export function unknownFields(schemas: readonly TSchema[], body: unknown): string[] {
  const found: string[] = [];
  visit(schemas, body, { path: "", found });
  return found;
}

interface Place {
  readonly path: string;
  readonly found: string[];
}

function visit(schemas: readonly TSchema[], value: unknown, { path, found }: Place): void {
  if (Array.isArray(value)) {
    const items = schemas.flatMap((each) => (KindGuard.IsArray(each) ? [each.items] : []));
    if (items.length === 0) return;
    for (const [at, item] of value.entries()) visit(items, item, { path: `${path}/${at}`, found });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const objects = schemas.filter((each) => KindGuard.IsObject(each));
  // A schema that takes any fields has no unknown ones.
  if (objects.length === 0) return;
  for (const [key, field] of Object.entries(value)) {
    const place = { path: `${path}/${pointerToken(key)}`, found };
    const known = objects.flatMap(({ properties }) => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return property ? [property] : [];
    });
    if (known.length === 0) found.push(place.path);
    else visit(known, field, place);
  }
}
