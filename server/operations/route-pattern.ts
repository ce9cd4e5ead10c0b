/** Stands for every path that nothing is served at. */
export const UNMATCHED = "unmatched";

/**
 * Tells the pattern that a path matches: `/v1/projects/proj_a` is `/v1/projects/:id`. `patterns`
 * are those of the router, so what logs and metrics name is a small set, and never an id.
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
