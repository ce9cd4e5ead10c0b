import type { WatchLimit } from "../../daemon/watch/watch-trouble.ts";

/** The values to advise for Linux's limits on watches, as editors do. */
export const ENOUGH: Readonly<Record<WatchLimit, number>> = {
  max_user_watches: 524_288,
  max_user_instances: 512,
};
