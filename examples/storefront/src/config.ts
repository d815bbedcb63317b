// Who can sign in here, and where tokens come from; the sandbox tells.

export interface Config {
  tokens: string;
  tenants: { name: string; title: string; subjects: string[] }[];
  /** `own`: the role has the rows of one person only, so somebody has to be that person. */
  roles: { name: string; description: string; own: boolean }[];
}

export async function loadConfig(): Promise<Config> {
  const answer = await fetch("config.json");
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status} to /demo/config.json`);
  return answer.json();
}

/** Whether the role is one of the shop's customers, who see what is their own, and not the desk. */
export function isCustomer(config: Config, role: string): boolean {
  return config.roles.some((each) => each.name === role && each.own);
}
