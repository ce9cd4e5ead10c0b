import { script } from "@bomb.sh/tab";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { type Candidate, candidatesFor, valuesFor } from "../completion-candidates.ts";
import type { Environment } from "../environment.ts";
import { say } from "../output.ts";

type Completions = ReturnType<typeof tab>;

/**
 * The library's own for bash lets the shell evaluate what is typed and what is offered, a memory's
 * key among it; this one evaluates nothing.
 */
const BASH_SCRIPT = `_memsync() {
  local word description
  COMPREPLY=()
  while IFS=$'\\t' read -r word description; do
    [[ $word == :* ]] || COMPREPLY+=("$word")
  done < <(memsync complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _memsync memsync`;

const HELP = `
Examples:
  memsync completion bash >> ~/.bash_completion
  memsync completion zsh > "\${fpath[1]}/_memsync"
  memsync completion fish > ~/.config/fish/completions/memsync.fish`;

/**
 * `completion`: what a shell needs to complete commands, options, keys and folders. Comes after all
 * other commands, for it describes them. What it prints asks the hidden command `complete`.
 */
export function addCompletionCommands(program: Command, env: Environment): void {
  const completions = tab(program, { completionCommandName: "completion" });
  for (const command of program.commands) {
    if (command.name() === "completion") {
      command.description("print a script that completes commands in your shell");
      command.addHelpText("after", HELP);
      command.action((shell: string) => printScript(shell));
    }
    if (command.name() === "complete") {
      command.hook("preAction", async (_, { args }) => await fillIn(completions, args, env));
    }
  }
}

function printScript(shell: string): void {
  if (shell === "bash") say(BASH_SCRIPT);
  else script(shell, "memsync", "memsync");
}

/** What this machine alone knows: the keys there are, say. Read before the library asks for it. */
async function fillIn(completions: Completions, words: readonly string[], env: Environment) {
  const word = words.at(-1) ?? "";
  const named = [...completions.commands.values()].filter(({ value }) => {
    const path = value.split(" ");
    return path.every((part, at) => words[at] === part) && words.length > path.length;
  });
  for (const command of named) {
    for (const argument of command.arguments.values()) {
      const candidates = await candidatesFor(command.value, argument.name, word, env);
      if (candidates.length > 0) argument.handler = (complete) => offer(complete, candidates);
    }
    const option = command.options.get(words.at(-2)?.replace(/^--/, "") ?? "");
    const values = option ? await valuesFor(option.value, word, env) : [];
    if (option && values.length > 0) option.handler = (complete) => offer(complete, values);
  }
}

function offer(
  complete: (value: string, description: string) => void,
  candidates: readonly Candidate[],
): void {
  for (const { value, description } of candidates) complete(value, description);
}
