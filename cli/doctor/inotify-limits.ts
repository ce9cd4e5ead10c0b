import type { WatchLimit } from "../../daemon/watch/watch-trouble.ts";

/** What is advised for Linux's limits on watching: what editors advise, too. */
export const ENOUGH: Readonly<Record<WatchLimit, number>> = {
  max_user_watches: 524_288,
  max_user_instances: 512,
};
