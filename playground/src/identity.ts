// Who asks. The token lives in this module's memory and nowhere else: no storage, no cookie, no address.
import type { Switcher } from "./config";
import { createStore } from "./store";

export interface Choice {
  tenant: string;
  role: string;
}

export interface Identity extends Choice {
  token: string;
}

// a reload keeps the choice, not the token
const CHOICE = "playground:choice";

/** Who has been chosen; the token may still be on its way. */
export const choice = createStore<Choice>({ tenant: "", role: "" });

export const identity = createStore<Identity | null>(null);

export function isChosen({ tenant, role }: Choice): boolean {
  return choice.get().tenant === tenant && choice.get().role === role;
}

let arriving: Promise<unknown> = Promise.resolve();

/** When the token of the one who has been chosen is here. */
export async function arrived(): Promise<void> {
  await arriving.catch(() => undefined);
}

/** Gets a token of the sandbox's issuer for a demo tenant; false where another one was chosen meanwhile. */
export async function become(switcher: Switcher, chosen: Choice): Promise<boolean> {
  choice.set(chosen);
  const wanted = issued(switcher, chosen);
  arriving = wanted;
  try {
    const token = await wanted;
    if (!isChosen(chosen)) return false;
    sessionStorage.setItem(CHOICE, JSON.stringify(chosen));
    identity.set({ ...chosen, token });
    return true;
  } catch (error) {
    const still = identity.get();
    if (isChosen(chosen) && still) choice.set({ tenant: still.tenant, role: still.role });
    throw error;
  }
}

async function issued(switcher: Switcher, { tenant, role }: Choice): Promise<string> {
  const answer = await fetch(switcher.tokens, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tenant, role }),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `no token: ${answer.status}`);
  return content.token;
}

const NOTICE = "playground:notice";

/** Forgets everything, the answers on the screen too: nothing survives a reload but what the next visitor is told. */
export function signOut(notice = ""): void {
  sessionStorage.setItem(NOTICE, notice);
  location.reload();
}

export function takeNotice(): string {
  const notice = sessionStorage.getItem(NOTICE) ?? "";
  sessionStorage.removeItem(NOTICE);
  return notice;
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

export function firstChoice(switcher: Switcher): Choice {
  const names = (all: { name: string }[]) => all.map((each) => each.name);
  try {
    const { tenant, role } = JSON.parse(sessionStorage.getItem(CHOICE) ?? "{}");
    if (names(switcher.tenants).includes(tenant) && names(switcher.roles).includes(role)) return { tenant, role };
  } catch {
    // somebody else's value under our name: as if there were none
  }
  return { tenant: switcher.tenants[0]?.name ?? "", role: switcher.roles[0]?.name ?? "" };
}
