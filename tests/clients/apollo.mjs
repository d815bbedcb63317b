// Apollo Client: the scenario, and once more with automatic persisted queries over GET.
import assert from "node:assert/strict";
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache, ServerError } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { createHash } from "node:crypto";
import { OPERATIONS, play } from "./scenario.mjs";
import { GATEWAY } from "./sandbox.mjs";

const documents = Object.fromEntries(Object.entries(OPERATIONS).map(([name, text]) => [name, gql(text)]));

function client(...links) {
  const http = new HttpLink({ uri: GATEWAY, fetch: (...wanted) => counted(...wanted) });
  return new ApolloClient({ link: ApolloLink.from([...links, http]), cache: new InMemoryCache() });
}

const methods = [];
function counted(url, init) {
  methods.push(init.method);
  return fetch(url, init);
}

const asking = (apollo) => async (operation, variables, token) => {
  const context = { headers: { authorization: `Bearer ${token}` } };
  const query = documents[operation];
  const isMutation = query.definitions[0].operation === "mutation";
  const options = { variables, context, fetchPolicy: "no-cache", errorPolicy: "none" };
  try {
    const { data } = isMutation
      ? await apollo.mutate({ mutation: query, ...options })
      : await apollo.query({ query, ...options });
    return { data: plain(data, operation), codes: [] };
  } catch (error) {
    return { data: null, codes: codesOf(error) };
  }
};

// the cache asks for type names everywhere; the scenario names those it wants
function plain(data, operation) {
  return JSON.parse(JSON.stringify(data, (key, value) => (key === "__typename" && operation !== "Anything" ? undefined : value)));
}

function codesOf(error) {
  if (CombinedGraphQLErrors.is(error)) return error.errors.map((each) => each.extensions.code);
  if (ServerError.is(error)) return JSON.parse(error.bodyText).errors.map((each) => each.extensions.code);
  throw error;
}

await play("Apollo Client", asking(client()));

methods.length = 0;
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
await play("Apollo Client with APQ", asking(client(new PersistedQueryLink({ sha256, useGETForHashedQueries: true }))));
assert.ok(methods.filter((method) => method === "GET").length > 5, "hashes are sent by GET");
assert.ok(methods.includes("POST"), "what is not known yet is sent by POST");
