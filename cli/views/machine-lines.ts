import type { MachineStatus } from "../../daemon/status/machine-status.ts";
import { toned } from "../screen/tones.ts";

/** The machine's name where something is wrong with it; else no line. */
export function machineLines({ name, note }: MachineStatus): string[] {
  return note === null ? [] : [`machine   ${name}   ${toned("bad", note)}`];
}
