import type * as Y from "yjs";
import { type IdRanges, union } from "../text/id-ranges.ts";
import { captureText } from "../text/text.ts";
import { idAt } from "../text/text-spans.ts";
import type { PutLine } from "./doubles.ts";
import type { KeptEdit, KeptOfSides, MetSides, MovedApart, MovedTwice } from "./kept-edits.ts";
import type { WritingSide } from "./moved-lines.ts";

/**
 * What two sides wrote, including the lines that a clean-up put elsewhere, each as its side's. The
 * clean-up writes such a line anew; without this, a line that one side moved and the other deleted
 * would then be nobody's, and not be told.
 */
export function withPut<Sides extends Pick<MetSides, WritingSide>>(
  sides: Sides,
  put: readonly PutLine[],
): Sides {
  const putBy = (by: WritingSide): IdRanges => {
    const own = put.filter(({ side }) => side === by);
    const byClient = Map.groupBy(own, ({ client }) => client);
    return new Map(
      [...byClient].map(([client, lines]) => {
        return [client, lines.map(({ clock, length }) => [clock, clock + length] as const)];
      }),
    );
  };
  const [mine, theirs] = [union(sides.mine, putBy("mine")), union(sides.theirs, putBy("theirs"))];
  return { ...sides, mine, theirs };
}

/** The same edits. Each one that a clean-up put elsewhere names the client that had written it. */
export function namedWriters(
  ytext: Y.Text,
  kept: KeptOfSides,
  put: readonly PutLine[],
): KeptOfSides {
  if (put.length === 0) return kept;
  const named = writerNamer(ytext, put);
  const ofApart = ({ standing, other }: MovedApart): MovedApart => {
    return { standing: named(standing), other: named(other) };
  };
  const ofTwice = ({ mine, theirs }: MovedTwice): MovedTwice => {
    return { mine: mine.map(named), theirs: theirs.map(named) };
  };
  return {
    edits: kept.edits.map(named),
    twice: kept.twice && ofTwice(kept.twice),
    rivals: kept.rivals && ofTwice(kept.rivals),
    apart: kept.apart.map(ofApart),
    strayed: kept.strayed.map(ofApart),
    missing: kept.missing.map(named),
  };
}

/**
 * Returns a function that names the client that had written an edit which a clean-up put elsewhere.
 */
export function writerNamer(ytext: Y.Text, put: readonly PutLine[]): (edit: KeptEdit) => KeptEdit {
  const { spans } = captureText(ytext);
  return (edit) => {
    if (edit.at >= ytext.length) return edit;
    const { client, clock } = idAt(spans, edit.at);
    const line = put.find((each) => {
      return each.client === client && each.clock <= clock && clock < each.clock + each.length;
    });
    return { ...edit, writer: line?.writer };
  };
}
