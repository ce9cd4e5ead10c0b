import type { Account } from "../../shared/wire/account.ts";
import type { Remote } from "../home/remote.ts";

/** Why a token must not be used for a remote, and what to do about it. */
export interface OthersToken {
  readonly code: "token-of-another";
  readonly detail: string;
  readonly mend: string;
}

/**
 * Why a token must not be used for a remote: it is another account's, or another user's, than what
 * is known of the remote. Otherwise what is synced with one account, or is one user's own, would be
 * sent to the other, and the reverse. Undefined: nothing speaks against it. `token`: what to call
 * it.
 */
export function whyOthers(
  { name, url }: Pick<Remote, "name" | "url">,
  known: Pick<Account, "name" | "user">,
  { token, told }: { readonly token: string; readonly told: Pick<Account, "name" | "user"> },
): OthersToken | undefined {
  const isOther = (was: string | null, is: string | null) => was && is && was !== is;
  const another = `log in under another name, by \`memsync login --url ${url} --remote NAME\``;
  if (isOther(known.name, told.name)) {
    return {
      code: "token-of-another",
      detail: `${token} is of the account ${told.name}, and ${name} is the account ${known.name}`,
      mend: `give a token of that one, or ${another}`,
    };
  }
  if (!isOther(known.user, told.user)) return undefined;
  return {
    code: "token-of-another",
    detail:
      `${token} is ${told.user}'s, and the memories of the layer user at ${name} are ` +
      `${known.user}'s`,
    mend: `give a token of ${known.user}, or ${another}`,
  };
}

/** The same in one sentence. */
export function refusalOfOthers(...asked: Parameters<typeof whyOthers>): string | undefined {
  const why = whyOthers(...asked);
  return why && `${why.detail}: ${why.mend}`;
}

/** Whom a service tells that a token is of, and at which address. */
type TokenOwner = Pick<Account, "name" | "user"> & { readonly service: string };

/**
 * Why everything in a home does not go to a service under another address: the token is of another
 * user or account there. A service that has only moved tells the same names. Undefined: nothing
 * speaks against it.
 */
export function refusalElsewhere(
  { name, url }: Pick<Remote, "name" | "url">,
  known: TokenOwner,
  told: Pick<Account, "name" | "user">,
): string | undefined {
  if (!whyOthers({ name, url }, known, { token: "MEMSYNC_TOKEN", told })) return undefined;
  const whose = ({ name: account, user }: Pick<Account, "name" | "user">) =>
    [user && `${user}'s`, account && `of the account ${account}`].filter(Boolean).join(" ");
  return (
    `MEMSYNC_TOKEN is ${whose(told)} at ${url}, and what is here is ${whose(known)} at ` +
    `${known.service}: unset MEMSYNC_URL and MEMSYNC_TOKEN, or \`memsync login --url ${url}\` ` +
    "adds it beside that one"
  );
}
