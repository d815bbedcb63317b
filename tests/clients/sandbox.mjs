// Where the gateway and its token issuer are, and tokens from it.
export const GATEWAY = process.env.GATEWAY_URL ?? "http://127.0.0.1:8000/graphql";
export const TRUSTED_GATEWAY = process.env.TRUSTED_GATEWAY_URL;
const ISSUER = process.env.ISSUER_URL ?? "http://127.0.0.1:8001/issuer/token";

export async function tokenOf(tenant, role, seconds) {
  const answer = await fetch(ISSUER, { method: "POST", body: JSON.stringify({ tenant, role, seconds }) });
  const { token, error } = await answer.json();
  if (!token) throw new Error(`no token for ${role} of ${tenant}: ${error}`);
  return token;
}
