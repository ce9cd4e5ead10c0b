import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { assistantsFor, type Surroundings } from "../setup/assistant.ts";
import { readSettingsFile } from "../setup/settings-file.ts";
import { parseSettings, valueAt } from "../setup/settings-text.ts";

/**
 * An assistant with a file of one's own instructions for all projects.
 *
 * ```
 * const [claude] = personalPlaces({ userFolder: homedir(), platform, variables: env });
 * claude?.path; // ".claude/CLAUDE.md" in that folder
 * ```
 */
export interface PersonalPlace {
  /** What it is called on a command line. */
  readonly id: string;
  readonly name: string;
  /** If one of these exists, the assistant is in use. */
  readonly traces: readonly string[];
  readonly program: string;
  readonly path: string;
  /** What the file begins with if it is made. */
  readonly header: string;
  /**
   * Another file in which the assistant reads the text already, and why it then gets no file of its
   * own.
   */
  readonly covered?: { readonly by: string; readonly why: string; readonly isHidden: boolean };
  /** What keeps the assistant from reading the file. */
  readonly remark?: string;
}

const CURSOR_HEADER =
  "---\ndescription: My own instructions, the same in all my assistants\nalwaysApply: true\n---\n";
const COPILOT_HEADER = '---\napplyTo: "**"\n---\n';

/**
 * All of them, in the order in which they are shown. Sources of the places: the assistants' own
 * documentation of November 2026.
 */
export function personalPlaces(around: Surroundings): readonly PersonalPlace[] {
  const known = new Map(assistantsFor(around).map((each) => [each.id, each]));
  const of = (id: string, names: readonly string[], header = "") => {
    const { name, traces, program } = known.get(id) ?? { name: id, traces: [""], program: id };
    return { id, name, traces, program, path: join(traces[0] ?? "", ...names), header };
  };
  const claude = of("claude", ["CLAUDE.md"]);
  return [
    claude,
    withOverride(of("codex", ["AGENTS.md"])),
    of("gemini", [geminiName(around)]),
    of("cursor", ["rules", "memsync-personal.mdc"], CURSOR_HEADER),
    openCode(of("opencode", ["AGENTS.md"]), claude.path, around),
    of("zed", ["AGENTS.md"]),
    amp(around),
    cline(around),
    copilot(around),
  ];
}

/** The place of Codex's other file, if that has any text: Codex then reads no other. */
function withOverride(codex: PersonalPlace): PersonalPlace {
  const path = codex.path.replace(/AGENTS\.md$/, "AGENTS.override.md");
  const hasText = existsSync(path) && lstatSync(path).size > 0;
  return hasText ? { ...codex, remark: "Codex reads AGENTS.override.md instead" } : codex;
}

/** The name of Gemini's file, of which its settings may name another, or several. */
function geminiName(around: Surroundings): string {
  const gemini = assistantsFor(around).find(({ id }) => id === "gemini");
  const file = gemini?.files[0];
  const read = file && readSettingsFile({ ...file, entries: [] });
  if (read?.kind !== "read" || read.text === undefined) return GEMINI_NAME;
  const named = valueAt(parseSettings(read.text, "json"), ["context", "fileName"]);
  const names = [named].flat().filter((name) => typeof name === "string");
  const [first = GEMINI_NAME] = names.includes(GEMINI_NAME) ? [] : names;
  return first.includes("/") || first.includes("\\") ? GEMINI_NAME : first;
}

const GEMINI_NAME = "GEMINI.md";

/** OpenCode reads all of Claude Code's file unless it has one of its own, which would hide that. */
function openCode(
  place: PersonalPlace,
  claude: string,
  { variables }: Surroundings,
): PersonalPlace {
  const isOff = [
    variables.OPENCODE_DISABLE_CLAUDE_CODE,
    variables.OPENCODE_DISABLE_CLAUDE_CODE_PROMPT,
  ];
  const reads = isOff.every((each) => each === undefined || each === "" || each === "0");
  if (!reads || existsSync(place.path) || !existsSync(claude)) return place;
  const why = "reads Claude Code's file while it has none of its own";
  return { ...place, covered: { by: "claude", why, isHidden: true } };
}

function amp({ userFolder, variables }: Surroundings): PersonalPlace {
  const folder = join(variables.XDG_CONFIG_HOME || join(userFolder, ".config"), "amp");
  const path = join(folder, "AGENTS.md");
  return { id: "amp", name: "Amp", traces: [folder], program: "amp", path, header: "" };
}

function cline({ userFolder }: Surroundings): PersonalPlace {
  const path = join(userFolder, ".agents", "AGENTS.md");
  const traces = [join(userFolder, ".cline"), path];
  return { id: "cline", name: "Cline", traces, program: "cline", path, header: "" };
}

/** VS Code reads this folder and Claude Code's file. */
function copilot({ userFolder }: Surroundings): PersonalPlace {
  const folder = join(userFolder, ".copilot");
  return {
    id: "copilot",
    name: "Copilot",
    traces: [folder],
    program: "copilot",
    path: join(folder, "instructions", "memsync-personal.instructions.md"),
    header: COPILOT_HEADER,
    covered: { by: "claude", why: "reads Claude Code's file, too, in VS Code", isHidden: false },
  };
}

/** Whether an assistant has been used here. */
export function isPlaceInUse({ traces, program }: PersonalPlace): boolean {
  return traces.some((path) => existsSync(path)) || Bun.which(program) !== null;
}
