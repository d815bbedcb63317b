// Who is signed in. The token lives in this module's memory and nowhere else: no storage, no cookie, no address.
import { basket } from "./basket";
import type { Config } from "./config";
import { createStore } from "./store";

export interface Choice {
  tenant: string;
  role: string;
  /** Who it is, where the role has the rows of one person only. */
  subject?: string;
}

export interface Session extends Choice {
  token: string;
  /** Epoch milliseconds. */
  expires: number;
}

// a reload keeps the choice, not the token
const CHOICE = "storefront:choice";

export const session = createStore<Session | null>(null);

/** Why somebody has to sign in again; empty for a new visitor. */
export const reason = createStore("");

/** In the sandbox anybody becomes anybody; elsewhere this is your identity provider's sign-in. */
export async function signIn(config: Config, { tenant, role, subject }: Choice): Promise<void> {
  const token = await issued(config, { tenant, role, subject });
  sessionStorage.setItem(CHOICE, JSON.stringify({ tenant, role, subject }));
  reason.set("");
  session.set({ tenant, role, subject, token, expires: expiryOf(token) });
}

/** A fresh token for the same person, before the old one ends. */
export async function renew(config: Config): Promise<void> {
  const who = session.get();
  if (!who) return;
  const token = await issued(config, who);
  // somebody else may have signed in meanwhile
  if (session.get()?.token === who.token) session.set({ ...who, token, expires: expiryOf(token) });
}

export function signOut(why = ""): void {
  sessionStorage.removeItem(CHOICE);
  basket.set([]);
  reason.set(why);
  session.set(null);
}

/** Signs in again after a reload, as whom this tab was before. */
export async function resume(config: Config): Promise<void> {
  const before = sessionStorage.getItem(CHOICE);
  if (before === null) return;
  try {
    await signIn(config, JSON.parse(before));
  } catch {
    signOut();
  }
}

async function issued(config: Config, { tenant, role, subject }: Choice): Promise<string> {
  const answer = await fetch(config.tokens, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tenant, role, subject }),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `no token: ${answer.status}`);
  return content.token;
}

/** What the token says about itself, to renew it in time; the gateway alone verifies it. */
function expiryOf(token: string): number {
  try {
    const claims = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(atob(claims)).exp * 1_000;
  } catch {
    return Infinity;
  }
}
