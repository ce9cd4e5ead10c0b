/** Gives no reason: nobody needs to know more about a refused token. */
export const REFUSED_TOKEN =
  "this API token is unknown, expired or revoked: ask whoever runs the server for another";
