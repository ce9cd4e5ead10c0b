// A process that beats for its watchdog until its standard input ends, and then hangs:
// `hanging-program.ts LOG [COMMAND…]`.
import { startWatchdog } from "../../daemon/supervise/watchdog.ts";
import { realWorld } from "../../shared/world-real.ts";

const [log = "", ...command] = process.argv.slice(2);
const watchdog = startWatchdog({
  intervalMs: 50,
  missedMax: 4,
  log,
  successor:
    command.length > 0 ? { command, env: { ...process.env, PASSED_ON: "yes" } } : undefined,
});

function beat(): void {
  watchdog.beat();
  realWorld.setTimer(10, beat);
}

function hang(): never {
  for (;;);
}

beat();
process.stdout.write("beating\n");
process.stdin.on("end", hang).resume();
