import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { World } from "../../shared/world.ts";
import { returnedLineKey } from "../home/line-arrival-key.ts";
import type { DaemonTables } from "../home/tables.ts";
import { addLine, type CameLine, listCame, listChanges } from "./line-arrival-store.ts";

type Db = WriteContext<DaemonTables>["db"];

/** For so long it is told that a save has brought a line back, or left one out that stays. */
const TOLD_MS = 24 * 60 * 60_000;

/** Which lines of files of whole values people are told of. They are in the home. */
export class ToldLines {
  readonly #world: Pick<World, "now">;

  constructor(world: Pick<World, "now">) {
    this.#world = world;
  }

  /** A save has brought back lines of which its author may not have seen that they left. */
  async noteReturned(db: Db, path: string, lines: readonly string[]): Promise<void> {
    const [dir, at] = [returnedLineKey(path), this.#world.now()];
    const isOver = db.deleteFrom("file_arrivals").where("arrived_at", "<", at - TOLD_MS);
    await isOver.where("dir", "=", dir).execute();
    for (const line of lines) await addLine(db, dir, { change: { line }, at });
  }

  /** Which of those of the last day still stand in the file's text. */
  async returned(db: Db, path: string, text: string): Promise<string[]> {
    const stands = new Set(plainLines(text));
    const told = (await listChanges<CameLine>(db, returnedLineKey(path))).filter(({ line, at }) => {
      return stands.has(line) && this.#world.now() - at < TOLD_MS;
    });
    return [...new Set(told.map(({ line }) => line))];
  }

  /** Which lines of the file's text stay though a save of the last day left them out. */
  async leftOut(db: Db, path: string, text: string): Promise<string[]> {
    const stands = new Set(plainLines(text));
    const told = (await listCame(db, path)).filter((each) => {
      return stands.has(each.line) && isLeftOut(each, this.#world.now());
    });
    return [...new Set(told.map(({ line }) => line))];
  }
}

/** Whether a save of the last day has left a line out that stays. */
export function isLeftOut({ leftOutAt }: CameLine, now: number): boolean {
  return leftOutAt !== undefined && now - leftOutAt < TOLD_MS;
}
