/**
 * Under which `dir` of `file_arrivals` the lines of a file of whole values are. No folder and no
 * further file of one has such a name.
 */
export function lineArrivalKey(path: string): string {
  return `lines:${path}`;
}
