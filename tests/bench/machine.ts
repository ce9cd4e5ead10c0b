import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import { VERSION } from "../../shared/version.ts";

/** What the figures were measured with, and how busy it was besides. */
export function machineLine(): string {
  const cores = cpus();
  const model = cores[0]?.model.trim() || "unknown processor";
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GB`;
  const load = (loadavg()[0] ?? 0).toFixed(1);
  return (
    `memsync ${VERSION} on Bun ${Bun.version}, ${platform()} ${arch()}, ` +
    `${cores.length} cores (${model}), ${memory}; load before the run ${load}.`
  );
}
