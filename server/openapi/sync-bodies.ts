import { ExchangeAnswerBody, ExchangeBody } from "../../shared/wire/exchange.ts";
import { SyncAnswer, SyncBody } from "../../shared/wire/sync.ts";
import * as examples from "./examples.ts";
import type { BodyContent, Kind } from "./operation.ts";

/** The description of both variants' sync of a project. */
export const SYNC_DESCRIPTION = `A plain sync writes memories by key, merges metadata key by key, \
and makes \`claude_md_content\` the text; what is left out stays, and absence never deletes. The \
answer is the merged state. What equals the stored value changes nothing.

With \`crdt\` it is a replica exchange: Yjs updates go up and come down, each document answered \
for itself. Plain fields beside \`crdt\` are 400.

A token that may only read may sync as long as nothing in it differs from what is stored.`;

/** The bodies of a sync: plain, or a replica exchange. */
export const SYNC_BODY: BodyContent = {
  schemas: [SyncBody, ExchangeBody],
  examples: {
    plain: { summary: "Plain", value: examples.sync },
    session: { summary: "Plain, a session alone", value: examples.syncOfSession },
    firstContact: { summary: "Exchange, first contact", value: examples.firstContact },
    exchange: { summary: "Exchange, both halves", value: examples.nextExchange },
  },
};

/** The answers to them. */
export const SYNC_ANSWER: BodyContent & { readonly kind: Kind } = {
  kind: "write",
  schemas: [SyncAnswer, ExchangeAnswerBody],
  examples: {
    plain: { summary: "Plain", value: examples.syncAnswer },
    exchange: { summary: "Exchange", value: examples.exchangeAnswer },
    trouble: { summary: "Exchange, with trouble in each", value: examples.exchangeTrouble },
  },
};
