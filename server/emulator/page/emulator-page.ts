import { VERSION } from "../../../shared/version.ts";
import base from "../../docs/base.css" with { type: "text" };
import { ownPolicy } from "../../docs/content-policy.ts";
import { Html, type HtmlPart, html } from "../../docs/html.ts";
import { type PublicDocument, publicDocument } from "../../http/answer-document.ts";
import clock from "./clock.js" with { type: "text" };
import controlsCss from "./controls.css" with { type: "text" };
import controls from "./controls.js" with { type: "text" };
import curl from "./curl.js" with { type: "text" };
import detail from "./detail.js" with { type: "text" };
import dom from "./dom.js" with { type: "text" };
import frameCss from "./emulator-page.css" with { type: "text" };
import faults from "./faults.js" with { type: "text" };
import follow from "./follow.js" with { type: "text" };
import list from "./list.js" with { type: "text" };
import narrowCss from "./narrow.css" with { type: "text" };
import plane from "./plane.js" with { type: "text" };
import requestsCss from "./requests.css" with { type: "text" };

/** The narrow page's last: it says what is different there. */
const STYLES = [base, frameCss, requestsCss, controlsCss, narrowCss];

/** In the order in which each needs those before it. */
const MODULES = [dom, plane, curl, detail, list, faults, clock, controls, follow];

let page: PublicDocument | undefined;

/**
 * The answer of `GET /_emulator/`, created once: a page that shows what comes to the emulator and
 * has its controls. It holds nothing of the emulator: its script asks the control calls.
 *
 * ```
 * return answerDocument(context, request, emulatorPage());
 * ```
 */
export function emulatorPage(): PublicDocument {
  if (page === undefined) {
    const style = STYLES.join("\n");
    const script = MODULES.map(joined).join("\n");
    page = publicDocument(
      pageOf(style, script).text,
      "text/html; charset=utf-8",
      ownPolicy(style, script),
    );
  }
  return page;
}

/** A module in one script with others: its imports are names that those before it have left. */
function joined(module: string): string {
  const exported = module.matchAll(/^export\s(?:async\s)?(?:function|const)\s(\w+)/gm);
  const names = [...exported].map(([, name]) => name).join(", ");
  const body = module.replace(/^import\s[^;]*;\n/gm, "").replace(/^export\s/gm, "");
  return `const { ${names} } = (() => {\n${body}return { ${names} };\n})();`;
}

function pageOf(style: string, script: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>memsync emulator</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1>memsync emulator <span class="note">${VERSION}</span></h1>
<p id="connection" role="status" data-state="connecting">connecting…</p>
<a id="to-controls" href="#controls">Controls</a>
<label class="field" for="account">Account
<input id="account" list="accounts" placeholder="all, or a token" ${OFF}></label>
<datalist id="accounts"></datalist>
</header>
<p id="problem" role="alert" hidden></p>
${accessForm()}
<main>
${requestsSection()}
<section id="detail" aria-labelledby="detail-title" tabindex="-1" hidden></section>
<div id="controls">
${faultsSection()}
${clockSection()}
${limitsSection()}
${snapshotsSection()}
${resetSection()}
</div>
</main>
<dialog id="confirm" aria-labelledby="confirm-text">
<form method="dialog"><p id="confirm-text"></p>
<p class="buttons"><button value="no" id="confirm-no">Keep it</button>
<button value="yes" id="confirm-yes" class="danger"></button></p></form>
</dialog>
<script type="module">${new Html(script)}</script>
</body>
</html>
`;
}

/** What is typed here is for programs. */
const OFF = html`autocomplete="off" autocapitalize="off" spellcheck="false"`;

function accessForm(): Html {
  return html`<form id="access" hidden>
<label class="field" for="access-token">Control token
<input id="access-token" type="password" required ${OFF}></label>
<button>Connect</button>
<p class="note">The emulator printed it when it started, or it is in MEMSYNC_EMULATOR_TOKEN. It
stays in this page alone, until the page is left.</p>
</form>`;
}

function requestsSection(): Html {
  return html`<section id="requests" aria-labelledby="requests-title">
<div class="bar">
<h2 id="requests-title">Requests <span class="note" id="count"></span></h2>
<input id="filter" type="search" placeholder="filter" aria-label="Filter requests"
${OFF}>
<button id="clear-requests">Clear</button>
</div>
<output id="requests-said" aria-live="polite"></output>
<div id="empty" hidden>
<p><strong>No request has come yet.</strong></p>
<p>Point your client at this emulator:</p>
<pre tabindex="0" id="variables"></pre>
<p>or try it with a first memory:</p>
<pre tabindex="0" id="first-request"></pre>
<p class="note">mst_dev_NAME is a token for any NAME, each an empty account of its own.</p>
</div>
<p id="none-fits" class="note" hidden>No request fits the filter.</p>
<ol id="list" aria-label="Requests, the newest first"></ol>
</section>`;
}

/** A part of the controls, with a line for what came of them. */
function panel(name: string, title: string, content: HtmlPart): Html {
  return html`<section class="panel" id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${title}</h2>
${content}
<output id="${name}-said" aria-live="polite"></output>
</section>`;
}

function faultsSection(): Html {
  const methods = ["any method", "GET", "POST", "DELETE"];
  return panel(
    "faults",
    "Faults",
    html`<ul id="fault-rules"></ul>
<p class="note" id="no-faults">None: the service behaves.</p>
<form id="fault-form">
<label class="field" for="fault-kind">What happens <select id="fault-kind"></select></label>
<label class="field" for="fault-value" id="fault-value-field" hidden><span></span>
<input id="fault-value" inputmode="numeric" pattern="[0-9]+" ${OFF}></label>
<div class="row">
<label class="field" for="fault-method">To <select id="fault-method">
${methods.map((method) => html`<option>${method}</option>`)}</select></label>
<label class="field" for="fault-times">Times
<input id="fault-times" value="1" inputmode="numeric" pattern="[1-9][0-9]*" required ${OFF}></label>
</div>
<label class="field" for="fault-path">Path
<input id="fault-path" list="fault-paths" placeholder="any" ${OFF}></label>
<datalist id="fault-paths"></datalist>
<button>Add the fault</button>
</form>`,
  );
}

function clockSection(): Html {
  return panel(
    "clock",
    "Clock",
    html`<p><time id="now" class="mono"></time> <span class="note">UTC</span></p>
<label class="switch"><input type="checkbox" role="switch" id="frozen"> It stands still</label>
<p class="buttons"><button data-advance="1m">+1 minute</button>
<button data-advance="1h">+1 hour</button><button data-advance="1d">+1 day</button></p>
<form id="clock-form" class="row">
<label class="field grow" for="clock-to">Move by, or to
<input id="clock-to" placeholder="2h, or 2026-01-31T12:00Z" required ${OFF}></label>
<button>Move</button>
</form>`,
  );
}

function limitsSection(): Html {
  return panel(
    "limits",
    "Limits",
    html`<p class="note" id="limits-of"></p>
<p class="buttons"><button data-limits='{"exhaust":"minute"}' data-of-one>Use up the minute</button>
<button data-limits='{"exhaust":"day"}' data-of-one>Use up the day</button></p>
<p class="buttons"><button data-limits='{"plan":"pro"}'>Plan pro</button>
<button data-limits='{"plan":"team"}'>Plan team</button>
<button data-limits='{"off":true}'>No limits</button>
<button data-limits='{"off":false}'>Usual limits</button></p>`,
  );
}

function snapshotsSection(): Html {
  return panel(
    "snapshots",
    "Snapshots",
    html`<ul id="snapshot-list"></ul>
<form id="snapshot-form" class="row">
<label class="field grow" for="snapshot-name">Name
<input id="snapshot-name" required pattern="[0-9A-Za-z_.\\-]{1,64}" ${OFF}></label>
<button>Keep what is stored</button>
</form>`,
  );
}

function resetSection(): Html {
  const scopes = [
    ["all", "everything"],
    ["data", "what is stored"],
    ["limits", "limits and what is used of them"],
    ["faults", "faults"],
    ["requests", "requests"],
  ] as const;
  return panel(
    "reset",
    "Reset",
    html`<form id="reset-form" class="row">
<label class="field grow" for="reset-scope">Forget <select id="reset-scope">
${scopes.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></label>
<button class="danger">Reset…</button>
</form>`,
  );
}
