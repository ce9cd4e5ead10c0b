import { type Asked, type Dialect, eventStream, isOurs, type Step } from "./stand-in.ts";

interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
}

interface Block {
  readonly type: string;
  readonly is_error?: boolean;
}

/** A side question comes without the tools. */
const TOOLS_MIN = 4;
const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Anthropic's Messages API, streamed or whole, by an assistant that calls our tools so. */
function messagesDialect(toolOf: (name: string) => string): Dialect {
  return {
    path: /\/messages$/,
    read(body): Asked {
      const { model, stream, tools = [], messages } = JSON.parse(body) as MessagesRequest;
      const blocks = messages.flatMap(({ content }) =>
        typeof content === "string" ? [] : content,
      );
      return {
        isMain: tools.length >= TOOLS_MIN,
        called: blocks.filter(({ type }) => type === "tool_use").length,
        refused: blocks.filter((each) => each.is_error).map((each) => JSON.stringify(each)),
        answer: (step) => {
          const isCall = "name" in step && isOurs(step.name);
          const named = isCall ? { ...step, name: toolOf(step.name) } : step;
          return stream ? streamed(model, named) : Response.json(messageOf(model, named));
        },
      };
    },
  };
}

export const CLAUDE = messagesDialect((name) => `mcp__memsync__${name}`);
export const OPENCODE = messagesDialect((name) => `memsync_${name}`);

function messageOf(model: string, step: Step) {
  const block = "text" in step ? { type: "text", text: step.text } : toolUse(step.name, step.input);
  return {
    id: `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    content: [block],
    stop_reason: "text" in step ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: USAGE,
  };
}

function toolUse(name: string, input: object) {
  return { type: "tool_use", id: `toolu_${crypto.randomUUID()}`, name, input };
}

function streamed(model: string, step: Step): Response {
  const { stop_reason, ...message } = messageOf(model, step);
  const [block] = message.content;
  const empty = "text" in step ? { ...block, text: "" } : { ...block, input: {} };
  const delta =
    "text" in step
      ? { type: "text_delta", text: step.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(step.input) };
  const events: readonly (readonly [string, object])[] = [
    ["message_start", { message: { ...message, content: [], stop_reason: null } }],
    ["content_block_start", { index: 0, content_block: empty }],
    ["content_block_delta", { index: 0, delta }],
    ["content_block_stop", { index: 0 }],
    ["message_delta", { delta: { stop_reason, stop_sequence: null }, usage: USAGE }],
    ["message_stop", {}],
  ];
  return eventStream(events.map(([type, data]) => [type, { type, ...data }]));
}
