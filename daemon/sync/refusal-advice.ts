/** What to do about a call that the service refused with this status, in words that follow why. */
export function refusalAdvice(status: number): string {
  switch (status) {
    case 401:
      return (
        "give `memsync login` a token of the service's, or set MEMSYNC_TOKEN to one and start " +
        "memsync again"
      );
    case 403:
      return (
        "give `memsync login`, or MEMSYNC_TOKEN, a token that may write it, or `memsync unlink` " +
        "its folder; all else goes on"
      );
    default:
      return "it is tried again, and all else goes on";
  }
}
