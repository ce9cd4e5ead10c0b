import type { DrivenClock } from "./driven-clock.ts";

/** The answer with the `Date` of now, where the clock shows another time than the real one. */
export function datedAnswer(
  answer: Response,
  clock: Pick<DrivenClock, "isDriven" | "now">,
): Response {
  if (clock.isDriven) answer.headers.set("Date", new Date(clock.now()).toUTCString());
  return answer;
}
