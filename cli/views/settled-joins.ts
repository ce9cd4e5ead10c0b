import type { Link } from "../../daemon/home/links.ts";
import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { count } from "../screen/output.ts";

/** What to say of projects that a link has joined, or has left apart. */
export function settledJoinLines(linked: BoundLink): string[] {
  const { name, projectId, left, moved, deletedBefore, joins, held } = linked;
  const isReturn = moved?.kind === "return";
  const nameOf = (join: { readonly to: string; readonly name?: string | undefined }) =>
    join.name === undefined ? join.to : `${join.name} (${join.to})`;
  // A folder's name may be that of both.
  const there = left?.name === name ? projectId : name;
  const writes = count(held, "write is", "writes are");
  return [
    ...(left && isReturn ? returnedLines(linked, left) : []),
    ...(deletedBefore ? [notComing(deletedBefore)] : []),
    // The user may believe that every machine has joined them, so it is said what the others do.
    ...(left && !isReturn
      ? [
          `what ${left.name} (${left.projectId}) had is in ${there}, too. Other machines are ` +
            `told, and go on in ${left.name} until \`memsync link --id ${projectId}\` there: ` +
            "what they write meanwhile comes then",
        ]
      : []),
    ...(held > 0
      ? [`${left ? "of that, " : ""}${writes} held on this machine: \`memsync held\` says why`]
      : []),
    ...(joins?.ended ?? []).map(
      (join) =>
        `machines that have followed into ${nameOf(join)} are told that it is ${name} again. ` +
        `No memory came along: \`memsync list --project ${join.to}\` shows what is there`,
    ),
    ...(joins?.declined ?? []).map(
      (join) =>
        `${name} stays as it is on this machine, and nothing more is said here of its being ` +
        `joined to ${nameOf(join)}; \`memsync link --id ${join.to}\` still joins it, and ` +
        `\`memsync link --id ${projectId} --everywhere\` ends that for every machine`,
    ),
  ];
}

/** What was deleted with a project does not go with its folder, and can still be read. */
function notComing({ name, projectId: id }: Link): string {
  return (
    `${name} (${id}) was deleted, and what was deleted in it did not come along: ` +
    `\`memsync history KEY --project ${id}\` and \`memsync doc history --project ${id}\` have it`
  );
}

/** What a folder that goes back takes along, and what stays. */
function returnedLines({ name, dir, projectId, moved, textBefore }: BoundLink, left: Link) {
  const there = `${left.name} (${left.projectId})`;
  const restore = `memsync doc restore --project ${shellWord(dir)} ${textBefore}`;
  const undo =
    textBefore === undefined
      ? ""
      : `: \`${restore}\` gets the text of before back, without what anybody writes from now on`;
  const { undated = [], deleted = [], isPastKnown = true } = moved ?? {};
  const came = isPastKnown
    ? `of ${there} only memories came along that were written after the folder had come there`
    : `no memory of ${there} came along: nothing tells which were written there since the ` +
      `folder came, and \`memsync list --project ${left.projectId}\` shows all`;
  return [
    `${came}. What the folder had brought there stays: ` +
      `\`memsync project part ${left.projectId}\` lists its memories, and asks whether to ` +
      `delete them. Lines of ${left.name} that the folder's file has are in ${name} now${undo}`,
    `machines that have followed into ${there} are told that it is ${name} again`,
    ...(undated.length > 0
      ? [
          `left in ${there}, for it is dated before the folder came, though heard of since: ` +
            `${keysShown(undated)}; of one that belongs here ` +
            `\`memsync get KEY --project ${left.projectId}\` has the value`,
        ]
      : []),
    ...(deleted.length > 0
      ? [
          `deleted in ${there}, and still in ${name}: ${keysShown(deleted)}; ` +
            `\`memsync rm KEY --project ${projectId}\` deletes one here, too`,
        ]
      : []),
  ];
}

/** This many keys are named. */
const KEYS_SHOWN = 10;

function keysShown(keys: readonly string[]): string {
  const named = keys
    .slice(0, KEYS_SHOWN)
    .map((key) => JSON.stringify(key))
    .join(", ");
  const more = keys.length - KEYS_SHOWN;
  return more > 0 ? `${named} and ${count(more, "other", "others")}` : named;
}
