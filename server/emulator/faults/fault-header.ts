import { AppError } from "../../../shared/errors.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { FaultEffect } from "../interface/faults.ts";
import { checkEffect } from "./fault-rules.ts";
import { inWireNames } from "./wire-names.ts";

/** The header by which a request asks for a fault of its own. */
export const FAULT_HEADER = "x-memsync-fault";

/** Stands for a rule's id where the request itself asked for the fault. */
export const HEADER_FAULT = "header";

type Reader = (value: string) => FaultEffect;

const NUMBER = /^\d{1,9}$/;

const READERS: Readonly<Record<string, Reader>> = {
  status: (value) => ({ status: numberOf(value) }),
  error: (value) => ({ error: value }),
  retry_after: (value) => ({ retryAfter: value }),
  latency_ms: (value) => ({ latencyMs: numberOf(value) }),
  disconnect: (value) => ({ disconnect: whenOf(value) }),
  truncate: (value) => ({ truncate: value === "" || value === "true" ? true : numberOf(value) }),
  malformed: () => ({ malformed: true }),
  silent: () => ({ silent: true }),
  refuse_item: (value) => ({ refuseItem: value }),
};

/**
 * What the header's value asks for: `status=503; retry_after=2`, `disconnect=after`, `malformed`.
 * Throws a 400 for anything else.
 */
export function parseFaultHeader(value: string): FaultEffect {
  let effect: FaultEffect = {};
  for (const part of value.split(/[;,]/)) {
    const [name = "", ...rest] = part.trim().split("=");
    const read = Object.hasOwn(READERS, name.trim()) ? READERS[name.trim()] : undefined;
    if (!read) {
      const names = Object.keys(READERS).join(", ");
      throw new AppError("invalid_request", `X-Memsync-Fault takes NAME=VALUE of ${names}`);
    }
    effect = { ...effect, ...read(rest.join("=").trim()) };
  }
  try {
    checkEffect(effect, "X-Memsync-Fault");
  } catch (thrown) {
    throw inWireNames(thrown);
  }
  return effect;
}

function numberOf(value: string): number {
  if (NUMBER.test(value)) return Number(value);
  throw refusedAt("X-Memsync-Fault", "needs a whole number there");
}

function whenOf(value: string): "before" | "after" {
  if (value === "before" || value === "after") return value;
  throw refusedAt("X-Memsync-Fault", "disconnect is before or after");
}
