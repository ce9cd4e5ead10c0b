import { Type } from "@sinclair/typebox";
import { text } from "./text.ts";

/** One life of a server's log; empty for a document without rows. */
export const Epoch = text(
  { pattern: /^[0-9A-Za-z_-]{0,64}$/, expected: "at most 64 of [0-9A-Za-z_-]" },
  { description: "one life of a server's log; empty where nothing was ever written" },
);

/** Number of a row in a document's log; 0 before the first. */
export const Seq = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "number of a row in a document's log; 0 before the first",
  expected: "an integer from 0",
});

/** A position in the log of one document on the server. */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
}
