// Sends operations with the current token, and keeps what the gateway explains about them.
import type { Fetcher, FetcherParams } from "@graphiql/toolkit";
import type { ExecutionResult } from "graphql";
import { createClient } from "graphql-ws";
import type { Config } from "./config";
import { activeTab, keepLast } from "./explanation";
import { arrived, become, type Identity, identity, isChosen, signOut } from "./identity";
import { operationsOf } from "./operations";

const JSON_TYPES = "application/graphql-response+json, application/json;q=0.9";
const INTROSPECTION = "IntrospectionQuery";

// an answer that came too late is for somebody who is not here any more
const never = new Promise<never>(() => {});

type Headers = Record<string, string>;

export async function ask(config: Config, params: FetcherParams, headers: Headers = {}, token = identity.get()?.token) {
  // relative to this page, so that the gateway can be mounted anywhere
  return fetch("../graphql", {
    method: "POST",
    headers: {
      ...headers,
      accept: JSON_TYPES,
      "content-type": "application/json",
      // the switcher decides who asks; a header typed by hand would make the bar lie
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ ...params, ...(config.explain && { extensions: { explain: true, cost: true } }) }),
  });
}

export function createFetcher(config: Config): Fetcher {
  return async (given, options) => {
    const params = { ...given, operationName: nameOf(given) };
    const tab = activeTab.get();
    if (isSubscription(params)) {
      await arrived();
      return subscribe(config, params);
    }
    const headers = withoutAuthorization(options?.headers);
    await arrived();
    let asked = identity.get();
    let answer = await ask(config, params, headers);
    if (answer.status === 401 && asked && isStill(asked, config)) {
      // the sandbox was started anew, or the token has expired
      if (!config.sandbox) {
        signOut("The token is not accepted any more.");
        return never;
      }
      if (!(await become(config.sandbox, { tenant: asked.tenant, role: asked.role, subject: asked.subject }))) return never;
      asked = identity.get();
      answer = await ask(config, params, headers);
    }
    const content = await answer.json();
    // the schema is the same for everybody
    if (params.operationName === INTROSPECTION) return shown(content);
    if (!asked || !isStill(asked, config)) return never;
    keep(tab, params, answer, content);
    return shown(content);
  };
}

function isStill(asked: Identity, config: Config): boolean {
  return identity.get() === asked && (!config.sandbox || isChosen(asked));
}

function withoutAuthorization(headers: unknown): Headers {
  const entries = Object.entries((headers ?? {}) as Headers);
  return Object.fromEntries(entries.filter(([name]) => name.toLowerCase() !== "authorization"));
}

function keep(tab: string, params: FetcherParams, answer: Response, content: ExecutionResult): void {
  const { explain, cost } = (content.extensions ?? {}) as Record<string, never>;
  const codes = (content.errors ?? []).map((error) => String(error.extensions?.code ?? "ERROR"));
  keepLast(tab, {
    name: params.operationName ?? "Operation without a name",
    at: new Date(),
    status: answer.status,
    requestId: answer.headers.get("x-request-id"),
    errors: [...new Set(codes)],
    explanation: explain ?? null,
    cost: cost ?? null,
  });
}

/** Events of a subscription, over a WebSocket of its own that ends with it. */
async function* subscribe(config: Config, params: FetcherParams): AsyncGenerator<ExecutionResult> {
  const asked = identity.get();
  if (!asked) return;
  const address = new URL("../graphql", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const client = createClient({
    url: address.href,
    connectionParams: { authorization: `Bearer ${asked.token}` },
  });
  const variables = params.variables as Record<string, unknown> | undefined;
  const events = client.iterate({ query: params.query, operationName: params.operationName, variables });
  for await (const event of events) {
    // whoever is chosen now has not asked for this
    if (!isStill(asked, config)) return;
    yield event as ExecutionResult;
  }
}

function isSubscription({ query, operationName }: FetcherParams): boolean {
  const meant = operationsOf(query).find((each) => !operationName || each.name?.value === operationName);
  return meant?.operation === "subscription";
}

/** The operation that is meant; GraphiQL still names that of another tab for a moment after a change. */
function nameOf({ query, operationName }: FetcherParams): string | undefined {
  const names = operationsOf(query).map((operation) => operation.name?.value);
  return names.includes(operationName ?? undefined) ? (operationName ?? undefined) : names[0];
}

/** The answer without what only this page has asked for; that has its own panel. */
function shown(content: ExecutionResult): ExecutionResult {
  const { explain: _explain, cost: _cost, ...extensions } = (content.extensions ?? {}) as Record<string, unknown>;
  const { extensions: _extensions, ...rest } = content;
  return Object.keys(extensions).length ? { ...rest, extensions } : rest;
}
