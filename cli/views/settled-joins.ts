import type { Link } from "../../daemon/home/links.ts";
import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { count } from "../screen/output.ts";

/**
 * What to say of projects that a link has joined, or has left apart. `text`: what the project's
 * text was before.
 */
export function settledJoinLines(linked: BoundLink, text?: string): string[] {
  const { name, projectId, left, isReturn, joins, held } = linked;
  const nameOf = (join: { readonly to: string; readonly name?: string | undefined }) =>
    join.name === undefined ? join.to : `${join.name} (${join.to})`;
  // A folder's name may be that of both.
  const there = left?.name === name ? projectId : name;
  const writes = count(held, "write is", "writes are");
  return [
    ...(left && isReturn ? [returnedShown(linked, left, text)] : []),
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
        `machines that have followed into ${nameOf(join)} are told that it is ${name} again`,
    ),
    ...(joins?.declined ?? []).map(
      (join) =>
        `${name} stays as it is on this machine, and nothing more is said here of its being ` +
        `joined to ${nameOf(join)}; \`memsync link --id ${join.to}\` still joins it, and ` +
        `\`memsync link --id ${projectId} --everywhere\` ends that for every machine`,
    ),
  ];
}

/** What a folder that goes back takes along, and what stays. */
function returnedShown({ name, dir }: BoundLink, left: Link, text = ""): string {
  const restore =
    text.trim() === ""
      ? ""
      : `: \`memsync doc restore --project ${shellWord(dir)} ${revisionName(text)}\` gets the ` +
        "text of before back";
  return (
    `of ${left.name} (${left.projectId}) only memories came along that were written after the ` +
    "folder had come there. What the folder had brought there stays: `memsync project part " +
    `${left.projectId}\` lists its memories, and asks whether to delete them. Lines of ` +
    `${left.name} that the folder's file has are in ${name} now${restore}`
  );
}
