import type { Command } from "commander";

/**
 * The end of each command's help, by the command's path. Commands whose help has examples of its
 * own are missing here.
 */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  up: [
    "memsync up                            this folder's project, until Ctrl-C",
    "memsync up ~/src/widget ~/src/shop    two projects",
  ],
  start: ["memsync start                         the daemon alone", "memsync start ~/src/widget"],
  stop: ["memsync stop"],
  restart: ["memsync restart"],
  install: ["memsync install", "MEMSYNC_URL=https://memory.example.com memsync install"],
  uninstall: ["memsync uninstall"],
  logs: ["memsync logs -n 20", "memsync logs --follow", "memsync logs --json | jq .msg"],
  status: ["memsync status", "memsync status --json | jq .service.online"],
  projects: [
    "memsync projects",
    "memsync projects --by-change           those that changed last first",
    "memsync projects --json | jq -r .[].id",
  ],
  link: [
    "memsync link                          the project that the current folder is in",
    "memsync link ~/src/widget --write     others' changes are written into its file, too",
    "memsync link . --id proj_k3j5h2ab     to a project of your choice",
  ],
  unlink: ["memsync unlink                        the current project", "memsync unlink ~/src/old"],
  sync: [
    "memsync sync                          waits half a minute at most",
    "memsync sync --wait 300 && poweroff",
  ],
  env: ['eval "$(memsync env)"', "memsync env --json"],
  doctor: ["memsync doctor", "memsync doctor --json | jq '.[] | select(.state == \"wrong\")'"],
  set: [
    'memsync set build "npm run build, never make"',
    'memsync set editor "vim" --layer user      you alone see it, in all of your projects',
    'memsync set style "tabs" --layer global    everybody in the account sees it',
    "git log -1 | memsync set last-commit -",
    'memsync set editor ""                      an empty value; `memsync rm` deletes',
    'memsync set -- style "- use tabs"',
  ],
  add: ['memsync add "the tests need a database"', "git log -1 | memsync add -"],
  get: ["memsync get build", "memsync get build | memsync set build-backup -"],
  list: ["memsync list", "memsync list --layer user", "memsync list --json | jq -r .[].key"],
  move: [
    "memsync move editor --layer user           you alone see it, in all of your projects",
    "memsync move style --from user --layer project",
  ],
  rm: ["memsync rm build", "memsync rm editor --layer user"],
  doc: ["memsync doc", "memsync doc --project ~/src/widget > CLAUDE.md"],
  server: [
    "memsync server --port 4777",
    "memsync server --database-url sqlite:/var/lib/memsync/server.db --host 0.0.0.0",
  ],
  "server config": ["memsync server config", "memsync server config --json"],
  "server backup": ["memsync server backup /backup/memsync.db --force"],
  "server copy": ["memsync server copy sqlite:memsync-server.db postgres://memsync@db/memsync"],
  "server restore": ["memsync server restore /backup/memsync.db"],
  "server account": ["memsync server account list"],
  "server account create": ["memsync server account create acme --plan team"],
  "server account list": ["memsync server account list --json"],
  "server account plan": ["memsync server account plan acme team"],
  "server user": ["memsync server user list --account acme"],
  "server user list": ["memsync server user list --account acme --json"],
  project: ["memsync project rm ."],
  "server token": ["memsync server token list"],
  "server token create": [
    "memsync server token create --account acme --user ann --name laptop",
    "memsync server token create --account acme --user ci --name ci --scope read",
  ],
  "server token list": ["memsync server token list --json"],
  "server token revoke": ["memsync server token revoke tok_k3j5h2ab"],
  "sessions off": ["memsync sessions off"],
  "sessions on": ["memsync sessions on"],
  logout: ["memsync logout", "memsync logout --remote acme"],
  "remote add": ["memsync remote add acme https://acme.example.com"],
  "remote list": ["memsync remote list", "memsync remote list --json"],
  "remote rm": ["memsync remote rm acme"],
  conformance: ["memsync conformance --url http://127.0.0.1:4777 --token mst_dev_pro"],
  demo: ["memsync demo", "memsync demo --fast"],
};

/** Adds the examples to these commands; `path`: that of the command above them. */
export function addExamples({ commands }: Command, path = ""): void {
  for (const command of commands) {
    const own = path === "" ? command.name() : `${path} ${command.name()}`;
    const lines = EXAMPLES[own];
    if (lines) {
      const text = ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
      command.addHelpText("after", text);
    }
    addExamples(command, own);
  }
}
