/** In place of the pattern, for unknown paths. */
export const UNMATCHED = "unmatched";

/**
 * Returns a function that finds the pattern of a path: `/v1/projects/:id` for
 * `/v1/projects/proj_a`. `patterns` are the router's, so logs and metrics have few different
 * values, and never an id.
 */
export function createRoutePatterns(patterns: Iterable<string>): (path: string) => string {
  const fixed = new Set<string>();
  const shapes = new Map<string, RegExp>();
  for (const pattern of patterns) {
    if (pattern.includes(":")) shapes.set(pattern, shapeOf(pattern));
    else fixed.add(pattern);
  }
  return (path) => {
    if (fixed.has(path)) return path;
    for (const [pattern, shape] of shapes) if (shape.test(path)) return pattern;
    return UNMATCHED;
  };
}

function shapeOf(pattern: string): RegExp {
  const literal = pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/:[^/]+/g, "[^/]+")}$`);
}
