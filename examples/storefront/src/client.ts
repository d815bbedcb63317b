// The GraphQL client of one signed-in person.
import { authExchange } from "@urql/exchange-auth";
import { retryExchange } from "@urql/exchange-retry";
import { type AnyVariables, cacheExchange, Client, type CombinedError, fetchExchange, type Operation } from "urql";
import type { Config } from "./config";
import { liveExchange } from "./live";
import { codesOf } from "./problems";
import { renew, session, signOut } from "./session";

const MINUTE = 60_000;
const WORTH_A_RETRY = ["THROTTLED", "UNAVAILABLE"];

/** One client for each session: the cache of one tenant is gone before the next one signs in. */
export function createClient(config: Config): Client {
  return new Client({
    // relative to this page, so that the gateway can be mounted anywhere
    url: "../graphql",
    preferGetMethod: false,
    exchanges: [
      cacheExchange,
      // before the others: it connects again by itself, and brings the token its own way
      liveExchange(() => liveToken(config)),
      retryExchange({ initialDelayMs: 300, maxDelayMs: 3_000, maxNumberAttempts: 3, retryIf: isWorthARetry }),
      authExchange(async ({ appendHeaders }) => ({
        addAuthToOperation: (operation) =>
          appendHeaders(operation, { authorization: `Bearer ${session.get()?.token ?? ""}` }),
        // a token that ends soon is renewed first; nobody notices
        willAuthError: () => endsSoon(),
        // one that the gateway refuses is not argued about
        didAuthError: (error) => error.response?.status === 401 || codesOf(error).includes("UNAUTHENTICATED"),
        refreshAuth: () => refreshed(config),
      })),
      fetchExchange,
    ],
  });
}

function endsSoon(): boolean {
  return (session.get()?.expires ?? Infinity) < Date.now() + MINUTE;
}

async function refreshed(config: Config): Promise<void> {
  if (!endsSoon()) {
    signOut("Your session is over. Please sign in again.");
    return;
  }
  try {
    await renew(config);
  } catch {
    signOut("Your session has ended and could not be renewed. Please sign in again.");
  }
}

/** For a connection that is made now; one without a fresh token is refused and tried again. */
async function liveToken(config: Config): Promise<string> {
  if (endsSoon()) await renew(config).catch(() => undefined);
  return session.get()?.token ?? "";
}

/** Reading again does no harm; a change is repeated only where its idempotency key makes that harmless. */
function isWorthARetry(error: CombinedError, operation: Operation): boolean {
  const passing = error.networkError !== undefined || codesOf(error).some((code) => WORTH_A_RETRY.includes(code));
  const variables: AnyVariables = operation.variables;
  return passing && (operation.kind === "query" || Boolean(variables?.idempotencyKey));
}
