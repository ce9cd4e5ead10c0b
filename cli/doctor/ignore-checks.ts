import { readOddLines } from "../../daemon/ignored/odd-lines.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { oddLinesShown } from "../views/odd-ignore-lines.ts";
import { type Finding, noted } from "./finding.ts";

/** Lines of ignored names that may not say what was meant. A bad database is another finding. */
export async function checkIgnored(env: Environment): Promise<Finding[]> {
  const odd = await withLocal(env, async (db) => (db ? await readOddLines(db) : [])).catch(
    () => [],
  );
  return oddLinesShown(odd).map((sentence) => noted("ignored-not-clear", sentence));
}
