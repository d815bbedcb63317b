// Who can sign in here, and where tokens come from; the sandbox tells.

export interface Config {
  tokens: string;
  tenants: { name: string; title: string }[];
  roles: { name: string; description: string }[];
}

export async function loadConfig(): Promise<Config> {
  const answer = await fetch("config.json");
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status} to /demo/config.json`);
  return answer.json();
}
