import { AppError, type ErrorDetail } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { LAYERS, type Layer, parseLayer } from "../../shared/wire/layer.ts";
import { existingProjectId } from "../../shared/wire/project-id.ts";
import type { PageRequest } from "../services/services.ts";

const LIMIT = /^[1-9][0-9]{0,3}$/;
const NONE = new URLSearchParams();

/**
 * The query of one request. Each getter records what is wrong with its parameter; `check` throws
 * one 400 for all of them, and has to be called before the values are used. A repeated parameter is
 * wrong; an unknown one is ignored.
 *
 * ```
 * const query = new Query(request.url);
 * const asked = { ...query.page(), layer: query.layer() };
 * query.check();
 * ```
 */
export class Query {
  readonly #params: URLSearchParams;
  readonly #details: ErrorDetail[] = [];

  constructor(readonly url: string) {
    const start = url.indexOf("?");
    this.#params = start === -1 ? NONE : new URLSearchParams(url.slice(start + 1));
  }

  page(): PageRequest {
    const limit = this.text("limit");
    if (limit === undefined) return { limit, cursor: this.text("cursor") };
    const count = LIMIT.test(limit) ? Number(limit) : LIMITS.pageSize + 1;
    if (count > LIMITS.pageSize) {
      this.#refuse("limit", `must be a whole number from 1 to ${LIMITS.pageSize}`);
    }
    return { limit: count, cursor: this.text("cursor") };
  }

  layer(): Layer | undefined {
    const value = this.text("layer");
    const layer = value === undefined ? undefined : parseLayer(value);
    if (value !== undefined && layer === undefined) {
      this.#refuse("layer", `must be one of ${LAYERS.join(", ")}`);
    }
    return layer;
  }

  /** A full-text query. An empty one counts as left out. */
  search(): string | undefined {
    const q = this.text("q");
    if (q === undefined || q === "") return undefined;
    if (exceedsBytes(q, LIMITS.queryBytes)) {
      this.#refuse("q", `must be at most ${LIMITS.queryBytes} bytes of UTF-8`);
    }
    if (q.includes("\0")) this.#refuse("q", "must not contain a NUL character");
    return q;
  }

  text(name: string): string | undefined {
    const values = this.#params.getAll(name);
    if (values.length > 1) this.#refuse(name, "is given twice");
    return values[0];
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) this.#refuse(name, "is required");
    return value ?? "";
  }

  check(): void {
    const [first, second] = this.#details;
    if (first === undefined) return;
    const more = second === undefined ? "" : " (and more, see details)";
    const message = `${first.path} ${first.message}${more}`;
    throw new AppError("invalid_request", message, this.#details);
  }

  /** The value of a `Link` header to the page that begins at `cursor`. */
  linkToNext(cursor: string | null): string | undefined {
    if (cursor === null) return undefined;
    const params = new URLSearchParams(this.#params);
    params.set("cursor", cursor);
    return `<${pathOf(this.url)}?${params}>; rel="next"`;
  }

  #refuse(path: string, message: string): void {
    this.#details.push({ path, message });
  }
}

/** The path of an absolute URL, as it was sent. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return url.slice(start, end === -1 ? undefined : end);
}

/** Throws a 404 for a malformed id. To be called after everything else was checked. */
export function existingIfGiven(value: string | null | undefined): ProjectId | undefined {
  return value === null || value === undefined ? undefined : existingProjectId(value);
}
