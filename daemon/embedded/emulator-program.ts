// The emulator for the command line, without the hosted server and without what calls a service:
// its start is waited for.
export { callableHost } from "../../server/emulator/callable-host.ts";
export {
  type Emulator,
  type EmulatorSeed,
  startEmulator,
} from "../../server/emulator/start-emulator.ts";
export { LOG_LEVELS, type LogLevel } from "../../server/operations/open-log.ts";
export { runEmulator } from "../../server/run-emulator.ts";
