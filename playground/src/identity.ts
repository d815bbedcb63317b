// Who asks. The token lives in this module's memory and nowhere else: no storage, no cookie, no address.
import type { Switcher } from "./config";
import { createStore } from "./store";

export interface Identity {
  tenant: string;
  role: string;
  token: string;
}

export const identity = createStore<Identity | null>(null);

/** A token of the sandbox's issuer for a demo tenant. */
export async function become(switcher: Switcher, tenant: string, role: string): Promise<void> {
  const answer = await fetch(switcher.tokens, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tenant, role }),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `no token: ${answer.status}`);
  remember({ tenant, role });
  identity.set({ tenant, role, token: content.token });
}

/** The claims of a token, to be shown to the one who holds it; the gateway alone verifies them. */
export function claimsOf(token: string): Record<string, unknown> {
  try {
    const part = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(part), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

// a reload keeps the choice, not the token
const CHOICE = "playground:choice";

function remember(choice: { tenant: string; role: string }): void {
  sessionStorage.setItem(CHOICE, JSON.stringify(choice));
}

export function firstChoice(switcher: Switcher): { tenant: string; role: string } {
  const names = (all: { name: string }[]) => all.map((each) => each.name);
  try {
    const { tenant, role } = JSON.parse(sessionStorage.getItem(CHOICE) ?? "{}");
    if (names(switcher.tenants).includes(tenant) && names(switcher.roles).includes(role)) return { tenant, role };
  } catch {
    // somebody else's value under our name: as if there were none
  }
  return { tenant: switcher.tenants[0]?.name ?? "", role: switcher.roles[0]?.name ?? "" };
}
