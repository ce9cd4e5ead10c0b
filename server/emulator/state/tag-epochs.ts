import { type AccountId, base32 } from "../../../shared/ids.ts";
import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";

/** What it stands on. */
export interface TagEpochsDeps {
  readonly app: App;
  readonly accountOf: (headers: Headers) => AccountId | undefined;
  /** From which epochs are drawn. */
  readonly world: Pick<World, "randomBytes">;
}

/** A service whose entity tags do not come again with its data. */
export interface TagEpochs {
  readonly app: App;
  /** An account's data, or everybody's, were put in place of others: their tags are new ones. */
  begin(account: AccountId | undefined): void;
  /** It is as at the start, tags included. */
  beginAgain(): void;
}

const EPOCH_BYTES = 5;

/**
 * Entity tags are made of an answer's text, so they would repeat when former data are put back.
 * Once an account's data were replaced, each tag ends with the epoch of the data: `"x"` becomes
 * `"x.k3v9…"`.
 */
export function createTagEpochs({ app, accountOf, world }: TagEpochsDeps): TagEpochs {
  const epochs = new Map<AccountId, string>();
  let common = "";
  const epochOf = (headers: Headers): string => {
    const account = accountOf(headers);
    return (account === undefined ? undefined : epochs.get(account)) ?? common;
  };
  return {
    app: {
      ...app,
      async fetch(request, peer) {
        const epoch = epochOf(request.headers);
        if (epoch === "") return await app.fetch(request, peer);
        const response = await app.fetch(withPlainTags(request, epoch), peer);
        const tag = response.headers.get("etag");
        if (tag !== null) response.headers.set("etag", tag.replace(/"$/, `.${epoch}"`));
        return response;
      },
    },
    begin(account) {
      const epoch = base32(world.randomBytes(EPOCH_BYTES));
      if (account !== undefined) epochs.set(account, epoch);
      else {
        epochs.clear();
        common = epoch;
      }
    },
    beginAgain() {
      epochs.clear();
      common = "";
    },
  };
}

/** The request as the service knows its tags: without the epoch, and without those of others. */
function withPlainTags(request: Request, epoch: string): Request {
  const { url, method } = request;
  const asked = request.headers.get("if-none-match");
  if (asked === null || (method !== "GET" && method !== "HEAD")) return request;
  const end = `.${epoch}"`;
  const plain = asked.split(",").flatMap((listed) => {
    const tag = listed.trim();
    if (tag === "*") return [tag];
    return tag.endsWith(end) ? [`${tag.slice(0, -end.length)}"`] : [];
  });
  const headers = new Headers(request.headers);
  if (plain.length > 0) headers.set("if-none-match", plain.join(", "));
  else headers.delete("if-none-match");
  return new Request(url, { method, headers });
}
