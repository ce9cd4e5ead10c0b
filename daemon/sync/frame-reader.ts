import type { ProjectId } from "../../shared/ids.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import { documentsOf, type SyncUnit } from "../budget/sync-units.ts";
import { forgetAbsence, noteAbsent } from "../home/absent-projects.ts";
import { openBound } from "../home/open-bound.ts";
import { readPosition } from "../home/positions.ts";
import type { RoundOptions } from "../service/round-options.ts";
import { type Announced, isToFetch } from "./announced.ts";
import { applyFrame, type Echoes } from "./incoming.ts";

type ChangeFrame = Extract<ServerFrame, { readonly type: "changed" }>;
type SubscribedFrame = Extract<ServerFrame, { readonly type: "subscribed" }>;

/** What the reader works with, beyond the replica and the service. */
export interface FrameReaderOptions extends RoundOptions {
  /** Whether a call about the unit is under way. */
  readonly isCalled: (unit: SyncUnit) => boolean;
  /** A document has to be fetched. True: at once. False: it is looked at after the call. */
  readonly onToFetch: (announced: Announced) => boolean;
  /** The service turned out to have nothing of these projects. */
  readonly onAbsent: (projects: readonly ProjectId[]) => void;
  /** The service told who shares the account. */
  readonly onAccount?: ((told: Account) => void) | undefined;
}

/**
 * Reads the frames of one live socket: applies a change that is the next row of its document, and
 * finds out what else has to be fetched.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #echoes: Echoes = new Map();

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** `asked`: the projects of the subscription that the frame answers. True: something is due. */
  async read(frame: ServerFrame, asked: readonly ProjectId[]): Promise<boolean> {
    if (frame.type === "subscribed") return await this.#subscribed(frame, asked);
    if (frame.type === "changed") return await this.#changed(frame);
    this.#options.onAccount?.(frame.account);
    return false;
  }

  async #subscribed({ positions }: SubscribedFrame, asked: readonly ProjectId[]): Promise<true> {
    const { user } = this.#options;
    const announced = [...positions].map(([name, position]): Announced => {
      const unit: SyncUnit = name === "user" || name === "global" ? "own" : name;
      return { unit, name: name === "user" ? `user/${user}` : name, position, by: "stands" };
    });
    await this.look(announced);
    await this.#noteAbsent(asked.filter((project) => !positions.has(project)));
    return true;
  }

  async #changed(frame: ChangeFrame): Promise<boolean> {
    const { store, service, user, projects } = this.#options;
    const unit: SyncUnit = frame.projectId ?? "own";
    if (unit !== "own" && !projects().has(unit)) return false;
    const name = documentsOf(unit, user).find((each) => layerOf(each) === frame.document);
    if (name === undefined) return false;
    const taken = await store.write(async (context) => {
      const open = await openBound(context, this.#options, name);
      return (
        open && (await applyFrame(context, service.name, { open, frame, echoes: this.#echoes }))
      );
    });
    if (taken !== "fetch") return false;
    const position = { epoch: frame.epoch, seq: frame.seq };
    await this.look([{ unit, name, position, by: "changed" }]);
    return true;
  }

  /**
   * Finds out which of these documents have to be fetched. All are looked at in one transaction,
   * so that no call ends in between.
   */
  async look(announced: readonly Announced[]): Promise<void> {
    const { store, service, account, onToFetch } = this.#options;
    await store.write(async (context) => {
      for (const each of announced) {
        const open = await context.find({ owner: account, name: each.name });
        const known = open && (await readPosition(context.db, service.name, open.id));
        if (!isToFetch(each, known?.remote) || !onToFetch(each)) continue;
        if (open && known) await forgetAbsence(context.db, service.name, { open, known });
      }
    });
  }

  /** Told before the call that is due about these: a file may wait for the service's answer. */
  async #noteAbsent(projects: readonly ProjectId[]): Promise<void> {
    const { store, onAbsent, isCalled, projects: followed } = this.#options;
    const news = await store.write(async (context) => {
      const noted: ProjectId[] = [];
      for (const project of projects) {
        if (isCalled(project) || !followed().has(project)) continue;
        if (await noteAbsent(context, this.#options, project)) noted.push(project);
      }
      return noted;
    });
    if (news.length > 0) onAbsent(news);
  }
}
