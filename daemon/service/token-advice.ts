/** What to do where a remote's service refuses its token, or soon will. */
export function tokenAdvice(remote: { readonly name: string; readonly default: boolean }): string {
  const login = remote.default ? "`memsync login`" : `\`memsync login --remote ${remote.name}\``;
  const given = `${login} gives the service another one`;
  return remote.default ? `${given}, or MEMSYNC_TOKEN at the daemon's next start` : given;
}
