import { type Mistake, mistakesIn } from "./mistake.ts";

const doubled = mistakesIn("shared/replica/merge/doubled-lines.ts", "unit/doubles.test.ts");
const crossed = mistakesIn(
  "shared/replica/merge/text-conflicts.ts",
  "unit/crossed-deletions.test.ts",
);
const deletions = mistakesIn(
  "shared/replica/merge/crossed-deletions.ts",
  "unit/crossed-deletions.test.ts",
);
const meeting = mistakesIn("daemon/sync/meeting.ts", "unit/echoed-rows.test.ts");
const orderAtOnce = mistakesIn("daemon/home/outgoing.ts", "unit/new-sections.test.ts");
const came = mistakesIn("daemon/sync/meeting.ts", "unit/crossed-deletions.test.ts");
const carried = mistakesIn("shared/replica/merge/carried-off.ts", "unit/carried-off.test.ts");
const shared = mistakesIn("shared/replica/merge/shared-moves.ts", "unit/shared-moves.test.ts");
const passed = mistakesIn("shared/replica/merge/passed-moves.ts", "unit/shared-moves.test.ts");
const arrived = mistakesIn("daemon/files/arrivals/arrivals.ts", "unit/crossed-deletions.test.ts");
const neighbours = mistakesIn(
  "shared/replica/merge/neighbour-edits.ts",
  "unit/neighbour-edits.test.ts",
);
const blocks = mistakesIn("daemon/files/saves/save-hunks.ts", "unit/stale-blocks.test.ts");
const wantedGone = mistakesIn("daemon/sync/wanted-gone.ts", "unit/ended-conflicts.test.ts");
const ended = mistakesIn(
  "shared/replica/conflicts/ended-conflicts.ts",
  "unit/ended-conflicts.test.ts",
);

const unheardEnd = mistakesIn("daemon/sync/wanted-gone.ts", "unit/conflict-ends.test.ts");
const endRules = mistakesIn(
  "shared/replica/conflicts/over-conflict.ts",
  "unit/conflict-ends.test.ts",
);
const settledApart = mistakesIn(
  "shared/replica/merge/settled-apart.ts",
  "unit/settled-apart.test.ts",
);
const mendedVersions = mistakesIn(
  "shared/replica/conflicts/ended-conflicts.ts",
  "unit/mended-versions.test.ts",
);
const copiesApart = mistakesIn("shared/replica/merge/copies-apart.ts", "unit/copies-apart.test.ts");
const heardOf = mistakesIn("daemon/sync/meeting.ts", "unit/copies-apart.test.ts");
const movedAway = mistakesIn(
  "shared/replica/conflicts/ended-conflicts.ts",
  "unit/carried-off.test.ts",
);

/** Mistakes in merging that the simulation finds by a rare seed alone. */
export const MERGING: readonly Mistake[] = [
  doubled(
    "of two copies the one stays that is not this machine's",
    "machines that clean up while they are apart do not each drop the copy that the other keeps",
    "return (one.ranks[i] ?? 0) < (other.ranks[i] ?? 0) ? [line, twin] : [twin, line];",
    'return line.side === "theirs" ? [line, twin] : [twin, line];',
  ),
  crossed(
    "what one side deleted is not told where the other perhaps moved it",
    "one moves two lines past one, and the other deletes it: that is told, if the mover hears first",
    "const crossed = findCrossedDeletions(lines, disputed);",
    "const crossed = findCrossedDeletions([], disputed);",
  ),
  deletions(
    "a section without lines goes on under any name that has a word in common",
    "of a section that one turns round, which has no lines, the other's line moved into it tells the deletion, a first",
    "isName ? hasSameNames(lines, left, by) : isMended(left, put)",
    "isRenamed(lines, left, { by, headings }) || isMended(left, put)",
  ),
  unheardEnd(
    "what two machines made of one place stays told as it was, though one of them has gone on unheard",
    "both of A and B where A B stands, of which a makes nothing and b B' unheard",
    "if (isSettledIn(record, content)) {",
    'if (record.kind !== "both" && isSettledIn(record, content)) {',
  ),
  unheardEnd(
    "what one has chosen and the other takes out unheard is gone untold",
    "both of A and B where A B stands, of which a makes B and b - unheard",
    "if (chosen.length === 0) return [];",
    "if (chosen.length >= 0) return [];",
  ),
  unheardEnd(
    "what both take out is asked again where one has not heard of the other version",
    "both of A and B where A B stands, of which a makes - and b - unheard",
    "const out = difference(intersection(byUnknowing, union(unheardOf, byThem)), byBoth);",
    "const out = byUnknowing;",
  ),
  unheardEnd(
    "a conflict goes for any other one that is told when two meet",
    "a conflict of which one takes a version out unheard stays though the two meet elsewhere, too",
    "return versions.some((version) => holdsAnyLine(content, version.text) && tells(version));",
    "return versions.length > 0;",
  ),
  endRules(
    "of two machines' versions a merge may end the conflict",
    "both of A and B where A stands, of which a makes - and b nothing",
    "return !isByEditAlone && isSettledIn(conflict, content);",
    "return isSettledIn(conflict, content);",
  ),
  endRules(
    "an edit that brings back the version that stood nowhere has not chosen",
    "both of A and B where A stands, of which a makes B and b nothing",
    "return isBack(one, other) || isBack(other, one);",
    "return false;",
  ),
  mistakesIn("shared/replica/conflicts/ended-conflicts.ts", "unit/conflict-ends.test.ts")(
    "who clears a text is asked about its lines beside the notice of that",
    "both of A and B where A B stands, of which a makes cleared and b nothing",
    "return hasWord(after) || isTold",
    "return hasWord(after)",
  ),
  settledApart(
    "of a conflict that each settles for another version nothing is told",
    "of lines savedStale each takes out another version, and a tells first: both can be chosen again",
    "return isSettled === true && ofMine?.join() !== ofTheirs?.join();",
    "return isSettled === true && ofMine?.join() === ofTheirs?.join();",
  ),
  settledApart(
    "who mends a version has taken it out",
    "of lines savedApart who takes out one and mends the other has not settled it apart",
    "if ([mine, theirs].some((text) => isStillAsked(record, { records, base, text }))) return false;",
    "",
  ),
  mendedVersions(
    "who mends both versions has chosen",
    "who mends the mark of all lists has chosen none of two versions savedApart",
    "return made.every((places) => places.length > 0) ? made : undefined;",
    "return made.every((places) => places.length > 9) ? made : undefined;",
  ),
  copiesApart(
    "of copies of which each side deletes another nothing is told",
    "of a line that stands twice each deletes another copy, which both merge: either can be chosen",
    "  if (lost.size === 0) return [];",
    "  if (lost.size >= 0) return [];",
  ),
  copiesApart(
    "what stands at a third place is told as gone",
    "who leave one copy of three has left nothing out untold",
    "isTelling(text) && !standing.has(text) && !told.has(text);",
    "isTelling(text) && !told.has(text);",
  ),
  copiesApart(
    "a copy that one has mended is told as gone",
    "who delete one, and the other mends another has left nothing out untold",
    "if (removed.includes(line)) lost.delete(plain(line));",
    "if (removed.length === 0) lost.delete(plain(line));",
  ),
  copiesApart(
    "a section of which another has lines is told without its name",
    "of sections that say the same under two names each deletes another: both are told whole",
    "level === undefined ? [meant[0], meant.at(-1)]",
    "level !== null ? [meant[0], meant.at(-1)]",
  ),
  heardOf(
    "what others may have heard of counts as deleted beside theirs",
    "who delete one, and the other all has left nothing out untold",
    "const unheardOf = echo ? echo.deletedLater : byMe;",
    "const unheardOf = byMe;",
  ),
  meeting(
    "what two machines wrote alike counts as sent by one of them",
    "what two machines wrote alike is no echo: a line that one moves and the other deletes is told",
    "if (ackedSeq > 0) return await echoIn(db, open.id, { ackedSeq, update });",
    "",
  ),
  meeting(
    "what comes back counts as deleted by others",
    "a line that was taken away before a lost answer and put elsewhere after it is nobody else's matter",
    "difference(deletedIn(update), echo ? deletedIn(echo.sent) : NONE)",
    "deletedIn(update)",
  ),
  meeting(
    "what was written behind what comes back does not meet the others upon that",
    "a line that both mend unlike is told where the answer to it was lost",
    "behind: isKnown && sent.size > 0 ? behind : undefined,",
    "behind: isKnown && sent.size > 0 ? { mine: NONE, byMe: NONE, both: NONE } : undefined,",
  ),
  orderAtOnce(
    "what was put in order where others' text came counts as somebody's edit",
    "a section written above a renamed one stands once where both put it in order at once",
    'isOrder: before?.origin === "remote" && before.committed_at === at',
    "isOrder: false",
  ),
  mistakesIn("shared/replica/store/open-document.ts", "unit/echoed-rows.test.ts")(
    "a commit may have the time of the one before",
    "a save in the very millisecond behind what came from others is somebody's edit",
    "this.#committedAt = now === this.#committedAt ? now + 1 : now;",
    "this.#committedAt = now;",
  ),
  wantedGone(
    "a move in doubt says nothing of whoever deleted the line where it stood",
    "a line that one moves in doubt and the other deletes has its deletion as a version, a first",
    "if (takenFrom(removed, byBoth).size > 0) ended.push(record);",
    "",
  ),
  carried(
    "what was moved and mended in one edit counts as a line of its own",
    "of a line that is old and that a moves to the end and mends the deletion is told, a first",
    "byText.get(said(text)) ?? byWord.mostAlike(text);",
    "byText.get(said(text)) ?? [];",
  ),
  movedAway(
    "whoever moves and mends a line that another wanted gone has chosen",
    "a conflict goes on where the other side, which has heard of it, moves and mends that line",
    "return mended.length > 0 ? mended : this.#carriedOff(version, other);",
    "return mended;",
  ),
  arrived(
    "what others moved a smaller part over is as old as it was",
    "others moved a section past a smaller one, and a save of the text of before lacks it: it stands there, told",
    "const crossed = moved.length > 0 ? crossedIn(before, after, hunks) : [];",
    "const crossed: TextSpan[][] = [];",
  ),
  came(
    "of what came and is gone again nobody wrote anything",
    "a third machine adds to what one deletes and another moves: after dismiss the move is told",
    "came: difference(broughtIn(update), had),",
    "came: textRangesOf(update, integrated),",
  ),
  shared(
    "what each side moved past a larger part stays where it is",
    "both move the larger section up and down, a the former, and a tells first: it is told",
    "if (isOpen || !other || more.length > 0 || mine.filter(isOf).length > 1) return [];",
    "if (shared.length >= 0) return [];",
  ),
  shared(
    "what was written beside a moved part goes back with it",
    "both move the larger section, one also writes in the upper part past which it moved that, and a tells first: it is told",
    "own.isWhole || other.isWhole ? isWhole : isSection;",
    "isWhole || isSection;",
  ),
  shared(
    "of a part past which both moved something, and beside which both wrote, nothing is told",
    "both move a larger part of a list, and both write beside the smaller one: either order can be chosen",
    'return [partApart(lines, "mine", versions), partApart(lines, "theirs", versions)];',
    "return [];",
  ),
  passed(
    "a move past what the other moved elsewhere leaves no trace",
    "both move the larger section, one behind the last one, the other past a smaller one, and writes in that, and a tells first: it is told",
    "const [move, ...more] = passed.length > 0 && !isOpen ? others.filter(isOf) : [];",
    "const [move, ...more] = passed.length < 0 && !isOpen ? others.filter(isOf) : [];",
  ),
  passed(
    "what stands where its mover has it is told, too",
    "where the larger section stands where both have it nothing is told of a move",
    "if (!move || more.length > 0 || isThere(lines, { crossing, move, mover })) return [];",
    "if (!move || more.length > 0) return [];",
  ),
  neighbours(
    "a new line that is as much like a mended one counts as another line",
    "what may be one line is told: a mended line and a new one that is as much like it",
    "const isOther = (likely: number) => likely === 0 || likely < own;",
    "const isOther = (likely: number) => likely >= 0 && own >= 0;",
  ),
  neighbours(
    "what was written above a mended line stays where the merge put it",
    "different lines are nobody's conflict: a new line and the first one below it, mended, the other way round",
    "at: placeOf(group, each, mended)",
    "at: placeOf(group, each, [])",
  ),
  blocks(
    "the fences of others' block count as those of the save's",
    "a block that another machine wrote stays one: where the save has another block",
    "if (!all.every(isNew) || all.some((at) => saved.has(before[at] as string))) continue;",
    "if (all.length > 0) continue;",
  ),
  mistakesIn("daemon/files/saves/plan-save.ts", "unit/stale-blocks.test.ts")(
    "what stays of a block stays without its fences",
    "a line that another machine wrote in a block stays in one where the save deletes that",
    "for (const block of findCodeBlocks(this.#shown)) this.#keepBlock(block);",
    "",
  ),
  mistakesIn("shared/replica/text/line-diff.ts", "unit/stale-blocks.test.ts")(
    "a run of lines goes as far down as it can, whatever block that cuts",
    "a block that another machine wrote stays one: above another one that the save rewrites",
    "const up = matching ? 0 : stepsToWhole(side, group, earliestEnd);",
    "const up = 0;",
  ),
  wantedGone(
    "what others have recorded of lines that were taken out here says nothing of these",
    "of a line in its first minute it is told that it is mended, and was deleted apart, b first",
    "...(isNew ? [takenFrom(removed, byMe)] : []),",
    "",
  ),
  ended(
    "whoever mends a line that another wanted gone has chosen",
    "a conflict goes on where the other side, which has heard of it, mends that line",
    'return other.text === "" || (!other.cut && holdsAnyLine(after, other.text));',
    'return other.text !== "" && !other.cut && holdsAnyLine(after, other.text);',
  ),
];
