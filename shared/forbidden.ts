import { AppError } from "./errors.ts";

/** The 403 for a token of the scope `read`, where something would be written. */
export function mayOnlyRead(): AppError {
  return new AppError("forbidden", "this token may only read: use one of the scope write");
}
