import type { Account } from "../../shared/wire/account.ts";
import type { Remote } from "../home/remote.ts";

/** Why a token must not be used for a remote, and what to do about it. */
export interface OthersToken {
  readonly code: "token-of-another";
  readonly detail: string;
  readonly mend: string;
}

/** Whose a token or a remote's memories are, as far as a service tells it. */
export type ToldOwner = Pick<Account, "name" | "user">;

/** Whether two are known to be of different accounts, or of different users. */
export function areOthers(known: ToldOwner, told: ToldOwner): boolean {
  return differ(known.name, told.name) || differ(known.user, told.user);
}

function differ(was: string | null, is: string | null): boolean {
  return Boolean(was && is && was !== is);
}

/** Whose something is, in words that follow "is". */
export function ownerShown({ name, user }: ToldOwner): string {
  return [user && `${user}'s`, name && `of the account ${name}`].filter(Boolean).join(" ");
}

/**
 * Why a token must not be used for a remote: it is another account's, or another user's, than what
 * is known of the remote. Otherwise what is synced with one account, or is one user's own, would be
 * sent to the other, and the reverse. Undefined: nothing speaks against it. `token`: what to call
 * it.
 */
export function whyOthers(
  { name, url }: Pick<Remote, "name" | "url">,
  known: ToldOwner,
  { token, told }: { readonly token: string; readonly told: ToldOwner },
): OthersToken | undefined {
  if (!areOthers(known, told)) return undefined;
  const isAccount = differ(known.name, told.name);
  const detail = isAccount
    ? `${token} is of the account ${told.name}, and ${name} is the account ${known.name}`
    : `${token} is ${told.user}'s, and the memories of the layer user at ${name} are ` +
      `${known.user}'s`;
  const whose = isAccount ? "that one" : known.user;
  // As long as it is set, it is used in place of the token of any login.
  const unset = token === "MEMSYNC_TOKEN" ? "unset MEMSYNC_URL and MEMSYNC_TOKEN and " : "";
  const another = `log in under another name, by \`memsync login --url ${url} --remote NAME\``;
  return {
    code: "token-of-another",
    detail,
    mend: `give a token of ${whose}, or ${unset}${another}`,
  };
}

/** The same in one sentence. */
export function refusalOfOthers(...asked: Parameters<typeof whyOthers>): string | undefined {
  const why = whyOthers(...asked);
  return why && `${why.detail}: ${why.mend}`;
}

/**
 * Why everything in a home does not go to a service under another address: the token is of another
 * user or account there. A service that has only moved tells the same names. Undefined: nothing
 * speaks against it.
 */
export function refusalElsewhere(
  { url }: Pick<Remote, "url">,
  known: ToldOwner & { readonly service: string },
  told: ToldOwner,
): string | undefined {
  if (!areOthers(known, told)) return undefined;
  return (
    `MEMSYNC_TOKEN is ${ownerShown(told)} at ${url}, and what is here is ${ownerShown(known)} at ` +
    `${known.service}: set MEMSYNC_URL to that one again with a token of ` +
    `${known.user ?? known.name}, or unset both and \`memsync login --url ${url}\` adds this one ` +
    "beside it"
  );
}
