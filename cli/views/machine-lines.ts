import type { MachineStatus } from "../../daemon/status/machine-status.ts";
import { toned } from "../screen/tones.ts";

/** The machine's name where something is wrong with it; else no line. */
export function machineLines({ name, code, note }: MachineStatus): string[] {
  if (note === null) return [];
  // It stands there for as long as nobody renames a machine, so it takes one row.
  const shown = code === "name-twice" ? "another home has this name, too: `memsync doctor`" : note;
  return [`machine   ${name}   ${toned("bad", shown)}`];
}
