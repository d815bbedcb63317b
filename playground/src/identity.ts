// Who asks. The token lives in this module's memory and nowhere else: no storage, no cookie, no address.
import type { Switcher } from "./config";
import { createStore } from "./store";

export interface Choice {
  tenant: string;
  role: string;
  /** Whose token it is; empty for somebody of the sandbox's choice, who has no rows of their own. */
  subject: string;
}

export interface Identity extends Choice {
  token: string;
}

// a reload keeps the choice, not the token
const CHOICE = "playground:choice";

/** Who has been chosen; the token may still be on its way. */
export const choice = createStore<Choice>({ tenant: "", role: "", subject: "" });

export const identity = createStore<Identity | null>(null);

export function isChosen({ tenant, role, subject }: Choice): boolean {
  const now = choice.get();
  return now.tenant === tenant && now.role === role && now.subject === subject;
}

/** With a subject that the tenant has; a role with own rows starts with the first of them. */
export function fitting(switcher: Switcher, { tenant, role, subject }: Choice): Choice {
  const known = switcher.tenants.find(({ name }) => name === tenant)?.subjects ?? [];
  const own = switcher.roles.some(({ name, own }) => name === role && own);
  return { tenant, role, subject: known.includes(subject) ? subject : own ? (known[0] ?? "") : "" };
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
    if (isChosen(chosen) && still) choice.set({ tenant: still.tenant, role: still.role, subject: still.subject });
    throw error;
  }
}

async function issued(switcher: Switcher, { tenant, role, subject }: Choice): Promise<string> {
  const answer = await fetch(switcher.tokens, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tenant, role, ...(subject && { subject }) }),
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
    const { tenant, role, subject } = JSON.parse(sessionStorage.getItem(CHOICE) ?? "{}");
    if (names(switcher.tenants).includes(tenant) && names(switcher.roles).includes(role))
      return fitting(switcher, { tenant, role, subject });
  } catch {
    // somebody else's value under our name: as if there were none
  }
  const first = { tenant: switcher.tenants[0]?.name ?? "", role: switcher.roles[0]?.name ?? "", subject: "" };
  return fitting(switcher, first);
}
