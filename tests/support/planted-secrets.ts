/** What looks like a secret and opens nothing; put together here so that no scanner finds it. */
export const PLANTED = {
  github: `ghp_${"a1B2c3D4e5".repeat(3)}abcdef`,
  otherGithub: `ghp_${"Z9y8X7w6V5".repeat(3)}uvwxyz`,
  slack: ["xoxb", "738195624083", "490172638514", "Zk3mQx7VbT2pLr9WsHy4Nf6C"].join("-"),
  anthropic: `sk-ant-api03-${"aB3_".repeat(23)}bAA`,
  database: ["postgres://ann", "hunter22@db.shop.io/shop"].join(":"),
  aws: `aws_secret_access_key = ${"wJalrXUtnFEMIAK7MDEN"}${"GabPxRfiCYzzzzzzKEYX"}`,
  awsId: ["AKIA", "3QZ7MXN5VTJR2KWL"].join(""),
  google: ["AIza", "SyD8kQ2mV7xR4tN9wB3hJ6pL1cF5gZ0aYeU"].join(""),
  jwt: [
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    "eyJzdWIiOiI4ODEzOTQ3MiIsInJvbGUiOiJhZG1pbiJ9",
    "kQ9xW3vTb7RmZ2pLsYd4Nf6HcJ1gXo8aEuVi5KtB0rM",
  ].join("."),
  memsync: `mst_${"kT7pWx2QmZ9rVb4LsYd6NfHc3J1gXo8aEuVi"}`,
  memsyncGateway: `mst_local_${"kT7pWx2QmZ9rVb4LsYd6NfHc3J1gXo8_"}`,
  stripe: ["sk", "live", "51Kx9TqWmZ7rVb4LsYd6NfHc"].join("_"),
  stripeWebhook: `whsec_${"5f8aK2mQ9xW3vTb7RmZpLsYd4Nf6HcJ1"}`,
  notion: `ntn_${"46827193045"}${"kQ9xW3vTb7RmZ2pLsYd4Nf6HcJ1gXo8aEuV"}`,
  discord: ["MTE4NjE4Mjc3NTk3MjUxMzg1NA", "GkQ9xW", "3vTb7RmZ2pLsYd4Nf6HcJ1gXo8aEuVi5KtB0rM"].join(
    ".",
  ),
  npm: `npm_${"a1B2c3D4e5".repeat(3)}abcdef`,
} as const;

/** Why a write with the first of them is held. */
export const TOKEN_FOUND = {
  code: "looks-like-secret",
  rule: "github-pat",
  like: "a GitHub token",
  line: null,
  more: 0,
  inKey: false,
} as const;
