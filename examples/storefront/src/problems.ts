// What went wrong, in words for people. A failure comes in one of two ways, and each has its place on the screen:
// expected ones in the payload's `errors` (a conflict, no stock left), everything else as a GraphQL error with a code.
import type { CombinedError } from "urql";
import type { UserErrorCode } from "./gql/graphql";

export interface Problem {
  code: string;
  text: string;
  /** To quote when it is reported. */
  requestId?: string;
}

const WORDS: Record<string, string> = {
  FORBIDDEN: "Your role may not do this.",
  TENANT_SUSPENDED: "This shop is closed for now.",
  BAD_USER_INPUT: "The gateway did not understand the request.",
  LIMIT_EXCEEDED: "That request is too large.",
  THROTTLED: "The shop is very busy. Please try again in a moment.",
  UNAVAILABLE: "The shop cannot be reached right now. Please try again.",
  TIMEOUT: "That took too long. Please try again.",
  INTERNAL: "Something went wrong on our side.",
  NETWORK: "The gateway cannot be reached. Is it running?",
};

export function codesOf(error: CombinedError | undefined): string[] {
  return (error?.graphQLErrors ?? []).map((each) => String(each.extensions.code ?? "INTERNAL"));
}

export function problemOf(error: CombinedError): Problem {
  const first = error.graphQLErrors[0];
  const code = first ? String(first.extensions.code ?? "INTERNAL") : "NETWORK";
  const requestId = first?.extensions.requestId;
  return { code, text: WORDS[code] ?? WORDS.INTERNAL ?? "", ...(typeof requestId === "string" && { requestId }) };
}

/** Fields that came as null because this role may not read them, such as `order.user.name`; the rest was answered. */
export function hiddenFields(error: CombinedError | undefined): Set<string> {
  const refused = (error?.graphQLErrors ?? []).filter((each) => each.extensions.code === "FORBIDDEN");
  return new Set(refused.map((each) => (each.path ?? []).filter((part) => typeof part === "string").join(".")));
}

const REFUSALS: Record<UserErrorCode, string> = {
  CONFLICT: "Somebody else changed it meanwhile.",
  OUT_OF_STOCK: "There is not enough in stock. Nothing was ordered.",
  ALREADY_EXISTS: "That already exists.",
  NOT_FOUND: "That no longer exists.",
  INVALID: "That is not possible.",
  OUT_OF_RANGE: "That number is too large or too small.",
  IN_USE: "Something else still needs it.",
  FORBIDDEN: "Your role may not do this.",
  UNFINISHED: "That was not completed. Please try again.",
};

export function refusal(code: UserErrorCode): string {
  return REFUSALS[code];
}
