import type { ProjectId } from "../../shared/ids.ts";
import {
  type DocumentAddress,
  globalDocument,
  projectDocument,
  userDocument,
} from "../../shared/replica/document/address.ts";
import type {
  DocumentAnswer,
  DocumentForbidden,
  DocumentRequest,
  ExchangeAnswer,
  ExchangeRequest,
} from "../../shared/wire/exchange.ts";
import { LAYERS, type Layer } from "../../shared/wire/layer.ts";
import type { Caller } from "./services.ts";

export const FORBIDDEN: DocumentForbidden = { forbidden: true };

/** What becomes of each document of an exchange, by its layer; one after another. */
export async function serveEach(
  caller: Caller,
  id: ProjectId | null,
  {
    request,
    serve,
  }: {
    readonly request: ExchangeRequest;
    readonly serve: (
      address: DocumentAddress,
      document: DocumentRequest,
    ) => DocumentAnswer | Promise<DocumentAnswer>;
  },
): Promise<ExchangeAnswer["documents"]> {
  const documents: { [document in Layer]?: DocumentAnswer } = {};
  for (const layer of LAYERS) {
    const document = request.documents[layer];
    const address = addressOf(caller, id, layer);
    if (!document || !address) continue;
    const reachable = layer === "project" || caller.boundTo === null;
    documents[layer] = reachable ? await serve(address, document) : FORBIDDEN;
  }
  return documents;
}

/** A call without a project can't contain a `project` document. */
export function addressOf(
  { account, user }: Caller,
  id: ProjectId | null,
  layer: Layer,
): DocumentAddress | undefined {
  if (layer === "user") return userDocument(account, user);
  if (layer === "global") return globalDocument(account);
  return id === null ? undefined : projectDocument(account, id);
}
