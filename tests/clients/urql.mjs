// urql's core: the scenario.
import { cacheExchange, Client, fetchExchange } from "@urql/core";
import { OPERATIONS, play } from "./scenario.mjs";
import { GATEWAY } from "./sandbox.mjs";

async function ask(operation, variables, token) {
  const fetchOptions = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ url: GATEWAY, exchanges: [cacheExchange, fetchExchange], fetchOptions, preferGetMethod: false });
  const text = OPERATIONS[operation];
  const run = text.startsWith("mutation") ? client.mutation(text, variables) : client.query(text, variables);
  const { data, error } = await run.toPromise();
  if (error?.networkError) throw error.networkError;
  return { data, codes: (error?.graphQLErrors ?? []).map((each) => each.extensions.code) };
}

await play("urql", ask);
