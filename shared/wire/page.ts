import { Type } from "@sinclair/typebox";

/** What every list answers beside its items. */
export const pageFields = {
  total: Type.Integer({ description: "how many there are on all pages together" }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "`cursor` of the next page; null on the last",
  }),
};
