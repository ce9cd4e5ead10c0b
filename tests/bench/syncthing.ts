import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PeerMissing } from "./peers.ts";
import type { Program, Programs } from "./programs.ts";

const LINUX_PACKAGE = "syncthing, a package of Debian, is not installed";

/** Nothing of its own is to leave this machine, or to take processor time for what we don't do. */
const SETTINGS: Readonly<Record<string, string>> = {
  globalAnnounceEnabled: "false",
  localAnnounceEnabled: "false",
  relaysEnabled: "false",
  natEnabled: "false",
  crashReportingEnabled: "false",
  urAccepted: "-1",
  autoUpgradeIntervalH: "0",
  startBrowser: "false",
  listenAddress: "tcp://127.0.0.1:0",
};

/**
 * Syncthing with a home of its own, which follows each of these folders by its own defaults, and
 * has nobody to send them to. Resolves when it has begun; the first scan goes on.
 */
export async function startSyncthing(
  programs: Programs,
  home: string,
  folders: readonly string[],
): Promise<Program> {
  const found = Bun.which("syncthing");
  if (found === null) throw new PeerMissing(LINUX_PACKAGE);
  const generate = [found, "generate", "--home", home, "--no-default-folder"];
  await programs.finish([...generate, "--skip-port-probing"], { HOME: home });
  const path = join(home, "config.xml");
  if (!existsSync(path)) throw new PeerMissing("syncthing made no configuration");
  await writeFile(path, configured(await readFile(path, "utf8"), folders));
  const serve = [found, "serve", "--home", home, "--no-browser", "--no-restart", "--no-upgrade"];
  return await programs.spawn(serve, { HOME: home });
}

function configured(config: string, folders: readonly string[]): string {
  let text = config.replace(/<gui enabled="true"/, '<gui enabled="false"');
  for (const [name, value] of Object.entries(SETTINGS)) {
    text = text.replace(new RegExp(`<${name}>[^<]*</${name}>`), `<${name}>${value}</${name}>`);
  }
  const listed = folders.map(
    (dir, at) => `<folder id="project-${at}" path="${dir}" type="sendreceive"></folder>`,
  );
  return text.replace("</configuration>", `${listed.join("\n")}\n</configuration>`);
}
