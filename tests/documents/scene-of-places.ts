import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";
import { cloneWidget } from "./widget.ts";

/** A linked clone with a folder inside of it, and another project beside. */
async function stage(reader: Reader): Promise<void> {
  const { lab, laptop } = reader;
  const emulator = await lab.emulator();
  await reader.use(emulator.account("places"));
  await cloneWidget(reader);
  await lab.git.write(`${laptop.folder}/packages/api/README.md`, "# API\n");
  await lab.git.run(laptop.folder, "add", ".");
  await lab.git.run(laptop.folder, "commit", "-qm", "api");
  const shop = await lab.git.repository("src/shop", { "README.md": "" });
  await laptop.memsync("start", ".");
  await laptop.memsync("link", shop);
  await laptop.sync();
}

export const PLACES: Scene = {
  document: "docs/places.md",
  stage,
  acts: [],
};
