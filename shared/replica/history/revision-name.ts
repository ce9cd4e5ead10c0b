import { createHash } from "node:crypto";
import { base32 } from "../../ids.ts";

const LENGTH = 8;

/**
 * A version's name, equal on every machine: eight characters of base32 of SHA-256 over the value.
 */
export function revisionName(value: string): string {
  return base32(createHash("sha256").update(value).digest()).slice(0, LENGTH);
}
