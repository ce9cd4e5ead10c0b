import { type Asked, type Dialect, eventStream, isOurs, type Step } from "./stand-in.ts";

interface GenerateRequest {
  readonly contents: readonly { readonly parts: readonly Part[] }[];
  readonly tools?: readonly unknown[];
}

interface Part {
  readonly functionResponse?: { readonly response?: { readonly error?: unknown } };
}

const USAGE = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };

/** Google's `generateContent`, streamed or whole, as Gemini CLI uses it. */
export const GEMINI: Dialect = {
  path: /:(streamG|g)enerateContent$/,
  read(body, url): Asked {
    const { contents, tools = [] } = JSON.parse(body) as GenerateRequest;
    const parts = contents.flatMap((each) => each.parts);
    const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    const isStreamed = url.pathname.includes(":stream");
    return {
      isMain: tools.length > 0,
      called: answers.length,
      refused: answers.filter((each) => each.response?.error).map((each) => JSON.stringify(each)),
      answer: (step) => {
        const whole = wholeAnswer(step);
        return isStreamed ? eventStream([[undefined, whole]]) : Response.json(whole);
      },
    };
  },
};

function wholeAnswer(step: Step) {
  const part =
    "text" in step ? step : { functionCall: { name: toolOf(step.name), args: step.input } };
  const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
  return { candidates: [candidate], usageMetadata: USAGE };
}

const toolOf = (name: string) => (isOurs(name) ? `mcp_memsync_${name}` : name);
