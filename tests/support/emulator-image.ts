import { readFileSync } from "node:fs";
import { join } from "node:path";

const DOCKERFILE = readFileSync(join(import.meta.dir, "../../deploy/Dockerfile"), "utf8");

function wordsOf(instruction: "ENTRYPOINT" | "CMD"): string[] {
  const [, stage = ""] = DOCKERFILE.split(/^FROM package AS /m);
  const [, words = "null"] = new RegExp(`\\b${instruction} (\\[.*\\])$`, "m").exec(stage) ?? [];
  const [program, ...args] = JSON.parse(words) as string[];
  if (program !== "memsync") throw new Error(`the image's ${instruction} runs ${program}`);
  return args;
}

/** What the emulator's image runs, and its check of health: what follows `memsync` in each. */
export const EMULATOR_IMAGE = { entrypoint: wordsOf("ENTRYPOINT"), health: wordsOf("CMD") };
