import { type Asked, type Dialect, eventStream, isOurs, type Step } from "./stand-in.ts";

interface ResponsesRequest {
  readonly input: readonly { readonly type: string; readonly output?: unknown }[];
}

const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

/** OpenAI's Responses API, as Codex uses it. */
export const CODEX: Dialect = {
  path: /\/responses$/,
  read(body): Asked {
    const { input } = JSON.parse(body) as ResponsesRequest;
    const outputs = input.filter(({ type }) => type === "function_call_output");
    return {
      isMain: true,
      called: outputs.length,
      // Nothing but words says that a tool failed.
      refused: outputs.map((each) => JSON.stringify(each)).filter((each) => !/project/.test(each)),
      answer: (step) => streamed(itemOf(step)),
    };
  },
};

function itemOf(step: Step) {
  if ("text" in step) {
    const content = [{ type: "output_text", text: step.text }];
    return { type: "message", role: "assistant", id: `msg_${crypto.randomUUID()}`, content };
  }
  const { name, input } = step;
  return {
    type: "function_call",
    id: `fc_${crypto.randomUUID()}`,
    call_id: `call_${crypto.randomUUID()}`,
    name,
    ...(isOurs(name) && { namespace: "mcp__memsync" }),
    arguments: JSON.stringify(input),
  };
}

function streamed(item: object): Response {
  const id = `resp_${crypto.randomUUID()}`;
  const events: readonly (readonly [string, object])[] = [
    ["response.created", { response: { id } }],
    ["response.output_item.done", { item }],
    ["response.completed", { response: { id, usage: USAGE } }],
  ];
  return eventStream(events.map(([type, data]) => [type, { type, ...data }]));
}
