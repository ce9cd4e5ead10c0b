// Writes down how this version keeps its data, for all later ones to read: `bun
// tests/released/write.ts`, once for each release, before it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { dumpDatabase } from "./database-text.ts";
import { HomeCommands } from "./home-state.ts";
import { fillServer, readServer } from "./server-state.ts";

const target = join(import.meta.dir, VERSION);
const folder = mkdtempSync(join(tmpdir(), "memsync-write-"));
mkdirSync(target, { recursive: true });

const database = join(folder, "server.db");
const tokens = await fillServer(database);
writeFileSync(join(target, "server.sql"), dumpDatabase(database));
const server = await readServer(database, tokens);
writeFileSync(join(target, "server.json"), `${JSON.stringify(server, null, 2)}\n`);

const home = new HomeCommands();
await home.fill();
writeFileSync(join(target, "home.sql"), dumpDatabase(join(home.home, "memsync.db")));
writeFileSync(join(target, "home.json"), `${JSON.stringify(await home.read(), null, 2)}\n`);

rmSync(folder, { recursive: true });
rmSync(home.folder, { recursive: true });
