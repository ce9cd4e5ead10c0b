import { ERROR_STATUS } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";

const CODES = Object.entries(ERROR_STATUS)
  .map(([code, status]) => `- \`${code}\` ${status}`)
  .join("\n");

const MIB = 1024 * 1024;

/** What applies to every operation, in Markdown: paragraphs, lists, headings, `code`. */
export const INTRODUCTION = `Keeps the memories of coding assistants and projects in sync between \
machines. There are two variants over one store: A below \`/v1\`, B below \`/api\`. What is made \
through one is seen through the other.

## Requests

All bodies are JSON in UTF-8, whatever their \`Content-Type\` says. Paths are exact, without a \
slash at the end. \`HEAD\` is \`GET\` without the body. Unknown fields are ignored, and \`null\` \
in an optional field means that it was left out. A body may have ${LIMITS.bodyBytes / MIB} MiB, \
with a replica exchange ${LIMITS.exchangeBodyBytes / MIB} MiB. Times are ISO 8601 in UTC with \
milliseconds.

## Token

Send \`Authorization: Bearer <token>\` with every request, unless an operation says that it needs \
none. The emulator, and only it, takes \`mst_dev_pro\`, \`mst_dev_team\`, \`mst_dev_readonly\` and \
\`mst_dev_NAME\` for any other name, which is an account of its own.

## Errors

Decide by \`error.code\`; \`message\` is for people. A refused request has changed nothing.

${CODES}

## Lists

Without \`limit\` a list is answered as a whole; \`total\` is its length, however short the page. \
Follow \`next_cursor\`, or the header \`Link\`, until it is null.

## Limits

An account's plan allows so many requests a minute and a day: Pro 60 and 10,000, Team 120 and \
50,000. \`RateLimit\` says what is left. A refused request, 429, is not charged.

## Doing things once

A \`POST\` with an \`Idempotency-Key\` may be sent again when its answer was lost: it is done \
once. A replica exchange may always be sent again.`;
