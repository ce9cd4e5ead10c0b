import { readPersonalFile } from "../../daemon/assistants/personal/read-personal-file.ts";
import {
  findProjectFile,
  listProjectFiles,
  type ProjectFile,
} from "../../daemon/files/names/find-project-file.ts";
import { explain } from "../../shared/reasons.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { tilde } from "../screen/tilde.ts";
import type { ChosenPlaces } from "./choose-places.ts";

/** The project's file that is at a place, by whatever link; undefined where it is none. */
export async function projectFileAt(
  env: Environment,
  path: string,
): Promise<ProjectFile | undefined> {
  const files = await withLocal(env, async (db) => (db ? await listProjectFiles(db) : []));
  return await findProjectFile(files, (await readPersonalFile(path)).path);
}

/** The places without those whose file belongs to a project, because others see and write that. */
export async function leaveProjects(
  env: Environment,
  { chosen, left }: ChosenPlaces,
): Promise<ChosenPlaces> {
  const looked = chosen.map(async (place) => {
    return { place, shared: await projectFileAt(env, place.path) };
  });
  const all = await Promise.all(looked);
  const taken = all.flatMap(({ place, shared }) => (shared?.isTaken ? [{ place, shared }] : []));
  const kept = chosen.filter((each) => !taken.some(({ place }) => place === each));
  const [first] = taken;
  if (kept.length === 0 && first) {
    const { place, shared } = first;
    throw new CommandFailed(`${place.name} is left out: ${tilde(place.path)} ${whyOf(first)}`, {
      further: [
        `\`memsync unlink\` in ${tilde(shared.folder)} takes it out of the project, and then ` +
          "it can have your own text",
      ],
    });
  }
  return {
    chosen: kept,
    left: [...left, ...taken.map((each) => ({ place: each.place, why: whyOf(each) }))],
  };
}

function whyOf({
  place,
  shared,
}: {
  readonly place: ChosenPlaces["chosen"][number];
  readonly shared: ProjectFile;
}): string {
  const { project } = shared;
  return explain({ code: "personal-in-project", assistant: place.id, project });
}
