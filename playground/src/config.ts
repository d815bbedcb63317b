// What the gateway tells the page about itself.

export interface Example {
  domain: string;
  title: string;
  about: string;
  query: string;
  variables: Record<string, unknown>;
  /** Variables of tenants whose ids are others. */
  tenants: Record<string, Record<string, unknown>>;
  /** Whether a new visitor finds it open. */
  tab: boolean;
}

export interface Switcher {
  /** Where a token comes from. */
  tokens: string;
  tenants: { name: string; title: string; subjects: string[] }[];
  roles: { name: string; description: string; own: boolean }[];
}

export interface Config {
  explain: boolean;
  /** Null outside the sandbox: then the visitor brings a token. */
  sandbox: Switcher | null;
  examples: Example[];
  /** A query that fits what is served, for those who have no example. */
  query: string;
}

export async function loadConfig(): Promise<Config> {
  const answer = await fetch("config.json");
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status} to /playground/config.json`);
  return answer.json();
}

export function variablesOf(example: Example, tenant: string): string {
  const variables = example.tenants[tenant] ?? example.variables;
  return Object.keys(variables).length ? JSON.stringify(variables, null, 2) : "";
}
