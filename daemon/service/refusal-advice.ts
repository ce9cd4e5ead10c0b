const FORBIDDEN = 403;

/** What to do about a call that the service refused with this status, in words that follow why. */
export function refusalAdvice(status: number): string {
  if (status !== FORBIDDEN) return "it is tried again, and all else goes on";
  return (
    "give `memsync login`, or MEMSYNC_TOKEN, a token that may write it, or `memsync unlink` its " +
    "folder; all else goes on"
  );
}

/** What to do where a remote's service refuses its token. */
export function tokenAdvice(remote: { readonly name: string; readonly default: boolean }): string {
  if (!remote.default) return `\`memsync login --remote ${remote.name}\` gives it another one`;
  return "`memsync login` gives it another one, or MEMSYNC_TOKEN at the daemon's next start";
}
