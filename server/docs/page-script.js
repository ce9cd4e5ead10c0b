// Sends the forms of "Try it" to where the page came from. The token stays in its field: it is
// stored nowhere and goes into no address.

const token = document.getElementById("access-token");

/** A form's request: what is left empty is left out. */
function requestOf(form) {
  const { method, path, open } = form.dataset;
  const headers = open === undefined ? { Authorization: `Bearer ${token.value}` } : {};
  const query = new URLSearchParams();
  let filled = path;
  for (const field of form.querySelectorAll("input")) {
    const { name, value, dataset } = field;
    if (dataset.in === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "" && dataset.in === "query") query.set(name, value);
    else if (value !== "") headers[name] = value;
  }
  const body = form.elements.namedItem("body")?.value;
  return {
    url: `${filled}${query.size > 0 ? `?${query}` : ""}`,
    init: {
      method: method.toUpperCase(),
      headers,
      credentials: "omit",
      ...(body ? { body } : {}),
    },
  };
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function answerTo(form) {
  try {
    const { url, init } = requestOf(form);
    const response = await fetch(url, init);
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const status = `${response.status} ${response.statusText}`;
    return `${status}\n${lines.join("\n")}\n\n${indented(await response.text())}`;
  } catch (thrown) {
    return `The request could not be sent: ${thrown.message}`;
  }
}

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector("output");
  if (output === null) return;
  output.textContent = "…";
  output.textContent = await answerTo(form);
});

for (const element of document.querySelectorAll("[hidden]")) element.hidden = false;

const operations = document.getElementById("operations");
const narrow = matchMedia("(max-width: 60rem)");
const follow = () => {
  operations.open = !narrow.matches;
};
narrow.addEventListener("change", follow);
follow();
operations.addEventListener("click", (event) => {
  if (narrow.matches && event.target.closest("a") !== null) operations.open = false;
});
