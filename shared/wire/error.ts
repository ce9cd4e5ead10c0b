import { type Static, Type } from "@sinclair/typebox";
import { ERROR_STATUS, type ErrorCode } from "../errors.ts";

/** Body of every answer that is an error. */
export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.Unsafe<ErrorCode>(Type.String({ enum: Object.keys(ERROR_STATUS) })),
    message: Type.String(),
    request_id: Type.String(),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
    ),
    details_truncated: Type.Optional(Type.Boolean()),
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;
