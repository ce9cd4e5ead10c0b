/** What to do where a remote's service refuses its token. */
export function tokenAdvice(remote: { readonly name: string; readonly default: boolean }): string {
  if (!remote.default) return `\`memsync login --remote ${remote.name}\` gives it another one`;
  return "`memsync login` gives it another one, or MEMSYNC_TOKEN at the daemon's next start";
}
