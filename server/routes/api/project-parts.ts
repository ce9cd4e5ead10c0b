import type { Static } from "@sinclair/typebox";
import { AppError } from "../../../shared/errors.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { SEARCH_STEPS_MAX } from "../../../shared/replica/admission/trial.ts";
import {
  type ArrivedBatch,
  inPart,
  type ProjectPartAnswerBody,
  parseProjectPart,
} from "../../../shared/wire/batch.ts";
import {
  type Binaries,
  type ExchangeAnswer,
  encodeDocumentAnswers,
} from "../../../shared/wire/exchange.ts";
import { invalid } from "../../../shared/wire/parse.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { errorBody } from "../../http/errors-to-response.ts";
import type { CallerContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";

type PartAnswered = Static<typeof ProjectPartAnswerBody>;

/**
 * Exchanges each project of a batch like a call of its own, one after another. Each has its own
 * transaction, with other work in between, and is refused on its own. Once the answer is large, or
 * as much was searched as for one document at most, the remaining projects are put off.
 */
export async function exchangeParts(
  sync: Services["sync"],
  context: CallerContext,
  { parts, binaries }: Pick<ArrivedBatch, "parts" | "binaries">,
): Promise<Readonly<Record<string, PartAnswered>>> {
  const answers = new Map<string, PartAnswered>();
  let bytes = 0;
  let searched = 0;
  for (const [name, part] of parts ?? []) {
    if (bytes >= LIMITS.batchAnswerBytes || searched >= SEARCH_STEPS_MAX) {
      answers.set(name, { later: true });
      continue;
    }
    try {
      const answer = await exchangePart(sync, context, {
        id: existingProjectId(name),
        part,
        binaries,
      });
      bytes += bytesIn(answer);
      searched += searchedIn(answer);
      answers.set(name, { documents: encodeDocumentAnswers(answer) });
    } catch (thrown) {
      answers.set(name, errorBody(context, thrown));
    }
  }
  // Not by assignment, because a part may be named `__proto__`.
  return Object.fromEntries(answers);
}

async function exchangePart(
  sync: Services["sync"],
  { caller }: CallerContext,
  { id, part, binaries }: { id: ProjectId; part: unknown; binaries: Binaries },
): Promise<ExchangeAnswer> {
  const { name, documents } = parseProjectPart(id, part, binaries);
  try {
    return await sync.exchange(caller, id, { documents, createMissing: true, name });
  } catch (thrown) {
    throw thrown instanceof AppError ? placedIn(id, thrown) : thrown;
  }
}

/** Services name places as in a body about one project. This adds the project's path. */
function placedIn(id: ProjectId, error: AppError): AppError {
  if (error.code !== "invalid_request" || error.details.length === 0) return error;
  return invalid(
    error.details.map(({ path, message }) => {
      return inPart(id, { path: path.replace(/^\/crdt/, ""), message });
    }),
  );
}

function bytesIn({ documents }: ExchangeAnswer): number {
  let bytes = 0;
  for (const document of Object.values(documents)) {
    if ("epoch" in document) {
      bytes += (document.update?.length ?? 0) + (document.stateVector?.length ?? 0);
    }
  }
  return bytes;
}

/** How many insertions were passed in searches for places. */
function searchedIn({ documents }: ExchangeAnswer): number {
  let searched = 0;
  for (const document of Object.values(documents)) {
    if ("searched" in document) searched += document.searched ?? 0;
  }
  return searched;
}
