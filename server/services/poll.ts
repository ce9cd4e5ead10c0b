import type { ProjectId } from "../../shared/ids.ts";
import { EMPTY_POSITION, headRowsOf } from "../../shared/replica/log/log-rows.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type {
  DocumentRequest,
  ExchangeAnswer,
  ExchangeRequest,
} from "../../shared/wire/exchange.ts";
import { LAYERS } from "../../shared/wire/layer.ts";
import { mayReach } from "./access.ts";
import { addressOf, serveEach } from "./each-layer.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller } from "./services.ts";

/** The answer to a poll, and the document of its project. */
interface Polled {
  readonly answer: ExchangeAnswer;
  readonly documentId: number | undefined;
}

/**
 * The answer to an exchange that brings nothing and has everything, which is what most of them
 * are: by one query, without a transaction and without the documents. Undefined for any other.
 */
export async function answerPoll(
  { reader }: ServiceStore,
  caller: Caller,
  { id, request }: { readonly id: ProjectId | null; readonly request: ExchangeRequest },
): Promise<Polled | undefined> {
  const { documents, sessions = [] } = request;
  const isPoll = sessions.length === 0 && Object.values(documents).every(asksByPosition);
  if (!isPoll || (id !== null && !mayReach(caller, id))) return undefined;
  const names = LAYERS.flatMap((layer) => addressOf(caller, id, layer)?.name ?? []);
  const heads = await headRowsOf(narrowTables(reader), caller.account, names);
  const project = id === null ? undefined : heads.get(id);
  if (id !== null && !project) return undefined;
  let hasAll = true;
  const answered = await serveEach(caller, id, {
    request,
    serve: ({ name }, { position = EMPTY_POSITION }) => {
      const head = heads.get(name)?.position ?? EMPTY_POSITION;
      if (position.epoch !== head.epoch || position.seq !== head.seq) hasAll = false;
      return head;
    },
  });
  return hasAll ? { answer: { documents: answered }, documentId: project?.id } : undefined;
}

function asksByPosition({ update, stateVector }: DocumentRequest): boolean {
  return update === undefined && stateVector === undefined;
}
