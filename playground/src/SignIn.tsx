// Outside the sandbox the visitor brings a token; without one there is nothing to see.
import { type FormEvent, useState } from "react";
import type { Config } from "./config";
import { ask } from "./fetcher";
import { claimsOf, identity, takeNotice } from "./identity";

export function SignIn({ config }: { config: Config }) {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState(takeNotice);
  const [busy, setBusy] = useState(false);

  async function signIn(event: FormEvent): Promise<void> {
    event.preventDefault();
    const given = token.trim().replace(/^bearer\s+/i, "");
    setBusy(true);
    try {
      // not told to the page before the gateway has accepted it
      const answer = await tried(config, given);
      if (answer.failure) setFailure(answer.failure);
      else identity.set({ token: given, tenant: answer.tenant, role: answer.role, subject: "" });
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="sign-in" onSubmit={signIn}>
      <h1>Playground</h1>
      <p>
        Paste an access token for this gateway. It stays in the memory of this page: it is not stored, and a reload forgets
        it.
      </p>
      <label htmlFor="token">Bearer token</label>
      <textarea
        id="token"
        value={token}
        onChange={(event) => setToken(event.target.value)}
        rows={5}
        required
        autoFocus
        autoComplete="off"
        spellCheck={false}
      />
      <p className="failure" role="alert">
        {failure}
      </p>
      <button type="submit" disabled={busy}>
        {busy ? "Asking…" : "Open the playground"}
      </button>
    </form>
  );
}

interface Tried {
  failure: string;
  tenant: string;
  role: string;
}

async function tried(config: Config, token: string): Promise<Tried> {
  const nobody = { tenant: "", role: "" };
  try {
    const answer = await ask(config, { query: "{ __typename }" }, {}, token);
    const content = await answer.json();
    const error = content.errors?.[0];
    if (error) return { ...nobody, failure: `${error.extensions?.code ?? answer.status}: ${error.message}` };
    // what the gateway says about the caller; where it does not explain, what the token says
    const claims = claimsOf(token);
    const { tenant, role } = content.extensions?.explain ?? { tenant: claims.tenant, role: "" };
    return { failure: "", tenant: typeof tenant === "string" ? tenant : "signed in", role };
  } catch (error) {
    return { ...nobody, failure: `The gateway cannot be reached: ${error}` };
  }
}
