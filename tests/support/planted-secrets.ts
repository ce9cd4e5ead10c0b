/** What looks like a secret and opens nothing; put together here so that no scanner finds it. */
export const PLANTED = {
  github: `ghp_${"a1B2c3D4e5".repeat(3)}abcdef`,
  otherGithub: `ghp_${"Z9y8X7w6V5".repeat(3)}uvwxyz`,
  slack: ["xoxb", "123456789012", "123456789012", "abcdefghijklmnopqrstuvwx"].join("-"),
  anthropic: `sk-ant-api03-${"aB3_".repeat(23)}bAA`,
  database: ["postgres://ann", "hunter22@db.shop.io/shop"].join(":"),
  aws: `aws_secret_access_key = ${"wJalrXUtnFEMIAK7MDEN"}${"GabPxRfiCYzzzzzzKEYX"}`,
  npm: `npm_${"a1B2c3D4e5".repeat(3)}abcdef`,
} as const;
