import type { InboxWrite } from "../../daemon/inbox/inbox.ts";
import { sameId } from "../../shared/replica/document/entry-index.ts";
import type { MoveConflict } from "../local/local-conflicts.ts";
import type { MemoryOutcome, StandingMove } from "../local/moved-memories.ts";

/**
 * What settling changes for a memory that left a place in two ways at once. `chosen`: the outcome
 * that counts; undefined leaves the memory wherever it stands. Where it stays it is written anew,
 * and the place that it left says anew what became of it. So if another machine chooses otherwise
 * at the same time, that is a conflict again. Deletions by earlier choices are settled with it.
 */
export function settleMove(
  { document: left, moved }: MoveConflict,
  chosen: MemoryOutcome | undefined,
  writtenAt: number,
): InboxWrite[] {
  const { key, outcomes, deletions } = moved;
  const standing = outcomes.flatMap((each) => each.standing ?? []);
  const kept = chosen ? standing.filter((each) => each === chosen.standing) : standing;
  const written = { key, writtenAt } as const;
  return [
    ...standing.map((each): InboxWrite => {
      const { name: document, account } = each.document;
      const place = { ...written, document, account };
      if (kept.includes(each)) {
        const choices = each.deletions
          .map(({ id }) => id)
          .filter((id) => moved.choices.some((choice) => sameId(choice, id)));
        return { kind: "losers", ...place, seen: [...each.winning, ...choices] };
      }
      return { kind: "memory", ...place, value: undefined, seen: each.all };
    }),
    {
      kind: "memory",
      ...written,
      document: left.name,
      account: left.account,
      value: undefined,
      movedTo: kept[0]?.movedTo,
      seen: deletions,
    },
  ];
}

/** The places from which a choice deletes the memory. */
export function leftBy({ moved }: MoveConflict, chosen: MemoryOutcome): readonly StandingMove[] {
  return moved.outcomes.flatMap(({ standing }) => {
    return standing && standing !== chosen.standing ? [standing] : [];
  });
}
