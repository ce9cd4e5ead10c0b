import { type Static, Type } from "@sinclair/typebox";
import { ERROR_DETAILS_MAX, ERROR_STATUS, type ErrorCode } from "../errors.ts";

/** Body of every answer that is an error. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.Unsafe<ErrorCode>(
        Type.String({ enum: Object.keys(ERROR_STATUS), description: "what a program decides by" }),
      ),
      message: Type.String({ description: "for people; its words may change" }),
      request_id: Type.String({ description: "the same as in `X-Request-Id`" }),
      details: Type.Optional(
        Type.Array(
          Type.Object({
            path: Type.String({
              description: "a JSON Pointer into the body, or the parameter's name",
            }),
            message: Type.String(),
          }),
          { maxItems: ERROR_DETAILS_MAX, description: "one for each offending place" },
        ),
      ),
      details_truncated: Type.Optional(
        Type.Boolean({ description: "true where there were more details than are listed" }),
      ),
    }),
  },
  { title: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;
