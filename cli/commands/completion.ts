import { script } from "@bomb.sh/tab";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { type Candidate, candidatesFor, valuesFor } from "../help/completion-candidates.ts";
import { takesEmpty } from "../place/empty-arguments.ts";
import type { Environment } from "../place/environment.ts";
import { printText } from "../screen/output.ts";

type Completions = ReturnType<typeof tab>;

/**
 * The library's script for bash lets the shell evaluate what is typed and what is offered,
 * including memories' keys. This one evaluates nothing. Bash splits words at colons, which keys may
 * contain: the parts are joined here, and bash gets only what follows the last colon. A word that
 * begins with a quote is one, which bash gets without its quote, open or not. So is one with
 * backslashes, which are no part of a key.
 */
const BASH_SCRIPT = `_memsync() {
  local word description at before=
  local -a words=()
  COMPREPLY=()
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if ((\${#words[@]} > 0)) && [[ $word == :* || ($at -gt 1 && \${COMP_WORDS[at-1]} == *:) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
  done
  word=\${words[\${#words[@]}-1]}
  [[ $COMP_WORDBREAKS == *:* && $word == *:* && $word != [\\"\\']* && $word != *\\\\* ]] &&
    before=\${word%:*}:
  for at in "\${!words[@]}"; do
    word=\${words[at]}
    if [[ $word == \\"* ]]; then
      word=\${word#\\"} words[at]=\${word%\\"}
    elif [[ $word == \\'* ]]; then
      word=\${word#\\'} words[at]=\${word%\\'}
    else
      words[at]=\${word//\\\\/}
    fi
  done
  while IFS=$'\\t' read -r word description; do
    [[ $word == :* ]] || COMPREPLY+=("\${word#"$before"}")
  done < <(memsync complete -- "\${words[@]}" 2> /dev/null)
}
complete -o default -F _memsync memsync`;

/**
 * The library's script for zsh lets the shell evaluate what is offered, too, and loses what follows
 * a colon.
 */
const ZSH_SCRIPT = `#compdef memsync
_memsync() {
  local word description
  local -a offered
  while IFS=$'\\t' read -r word description; do
    [[ $word == :* ]] || offered+=("\${word//:/\\\\:}:$description")
  done < <(memsync complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)
  if ((\${#offered})); then
    _describe memsync offered
  else
    _files
  fi
}
compdef _memsync memsync`;

const HELP = `
Offered are keys of letters, digits and . _ / @ % + , : - alone: in each shell others would have to
be quoted in another way, and other people in the account may have chosen them.

Examples:
  memsync completion bash >> ~/.bash_completion
  memsync completion zsh > "\${fpath[1]}/_memsync"
  memsync completion fish > ~/.config/fish/completions/memsync.fish`;

/**
 * `completion`: what a shell needs to complete commands, options, keys and folders. Added after all
 * other commands, because it describes them. Its scripts call the hidden command `complete`.
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
      takesEmpty(command, "args");
      command.hook("preAction", async (_, { args }) => await fillIn(completions, args, env));
    }
  }
}

function printScript(shell: string): void {
  if (shell === "bash") printText(`${BASH_SCRIPT}\n`);
  else if (shell === "zsh") printText(`${ZSH_SCRIPT}\n`);
  else script(shell, "memsync", "memsync");
}

/** Adds candidates that only this machine knows, such as keys, before the library asks for them. */
async function fillIn(completions: Completions, words: readonly string[], env: Environment) {
  const word = words.at(-1) ?? "";
  const named = [...completions.commands.values()].filter(({ value }) => {
    const path = value.split(" ");
    return path.every((part, at) => words[at] === part) && words.length > path.length;
  });
  for (const command of named) {
    for (const argument of command.arguments.values()) {
      const candidates = await candidatesFor(command.value, argument.name, { words, env });
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
