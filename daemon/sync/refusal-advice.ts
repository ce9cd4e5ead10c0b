/** What to do about a call that the service refused with this status, in words that follow why. */
export function refusalAdvice(status: number): string {
  switch (status) {
    case 401:
      return "set MEMSYNC_TOKEN to a token of the service's, and start memsync again";
    case 403:
      return (
        "set MEMSYNC_TOKEN to a token that may write it, or `memsync unlink` its folder; " +
        "all else goes on"
      );
    default:
      return "it is tried again, and all else goes on";
  }
}
