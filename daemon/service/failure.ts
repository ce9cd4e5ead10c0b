import type { CALL_REASONS } from "../../shared/call-reasons.ts";
import { explain, type ReasonOf } from "../../shared/reasons.ts";

/** Identifies why a call failed. */
export type CallCode = keyof typeof CALL_REASONS;

type CallReason = { readonly [Code in CallCode]: ReasonOf<Code> }[CallCode];

/** Why a call failed: what the program compares, and the same for people. */
export interface Failure {
  readonly code: CallCode;
  readonly message: string;
}

/**
 * Why a call failed.
 *
 * ```
 * failureBy({ code: "call-late", seconds: 30 }); // message: "it did not answer within 30 seconds"
 * ```
 */
export function failureBy(reason: CallReason): Failure {
  return { code: reason.code, message: explain(reason) };
}
