// Subscriptions with graphql-ws, graphql-sse, Apollo Client, urql and Relay.
import assert from "node:assert/strict";
import { ApolloClient, CombinedGraphQLErrors, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import relay from "relay-runtime";
import WebSocket from "ws";
import watched from "./generated/relay/operationsWatchedSubscription.graphql.js";
import { resuming } from "./resume.mjs";
import { WATCHED, watch } from "./watching.mjs";

globalThis.WebSocket ??= WebSocket; // Apollo's link looks for it

function webSocket(url, token) {
  return resuming(
    createWs({
      url: url.replace(/^http/, "ws"),
      webSocketImpl: WebSocket,
      connectionParams: async () => ({ authorization: `Bearer ${await token()}` }),
      retryAttempts: 50,
      shouldRetry: () => true, // also where the gateway cannot be reached at all
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 200)),
    }),
  );
}

// what graphql-ws tells is a list of GraphQL errors, or how the socket was closed
const codeOf = (error) => (Array.isArray(error) ? error[0].extensions.code : (error.code ?? error));
const sinkOf = ({ next, error, complete }) => ({ next, error: (wrong) => error(codeOf(wrong)), complete });

await watch("graphql-ws", (url, token, variables, sink) =>
  webSocket(url, token).subscribe({ query: WATCHED, variables }, sinkOf(sink)),
);

await watch(
  "graphql-sse",
  (url, token, variables, sink) => {
    const client = resuming(
      createSse({
        url,
        headers: async () => ({ authorization: `Bearer ${await token()}` }),
        retryAttempts: 50,
        retry: () => new Promise((resolve) => setTimeout(resolve, 200)),
      }),
    );
    const error = async (wrong) => {
      const answer = await wrong.response?.json();
      sink.error(answer ? answer.errors[0].extensions.code : wrong);
    };
    return client.subscribe({ query: WATCHED, variables }, { ...sink, error });
  },
  { reconnectsWhenExpired: false },
);

await watch("Apollo Client", (url, token, variables, sink) => {
  const link = new GraphQLWsLink(webSocket(url, token));
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const failed = (error) =>
    sink.error(
      CombinedGraphQLErrors.is(error)
        ? error.errors[0].extensions.code
        : Number(error.message.match(/^Socket closed with event (\d+)/)?.[1]) || error,
    );
  const events = client.subscribe({ query: gql(WATCHED), variables, fetchPolicy: "no-cache" });
  const subscription = events.subscribe({
    next: ({ data, error }) => (error ? failed(error) : sink.next({ data })),
    error: failed,
  });
  return () => subscription.unsubscribe();
});

const urql = (options) => (url, token, variables, sink) => {
  const client = new Client({ url, preferGetMethod: false, ...options(url, token) });
  const { unsubscribe } = client.subscription(WATCHED, variables).subscribe(({ data, error }) => {
    if (error) sink.error(error.graphQLErrors[0]?.extensions?.code ?? codeOf(error.networkError));
    else if (data) sink.next({ data });
  });
  return unsubscribe;
};

await watch(
  "urql",
  urql((url, token) => {
    const ws = webSocket(url, token);
    const forwardSubscription = (request) => ({ subscribe: (sink) => ({ unsubscribe: ws.subscribe(request, sink) }) });
    return { exchanges: [subscriptionExchange({ forwardSubscription })] };
  }),
);

// Relay warns where two objects that are not the same have one id
const warned = [];
console.error = (...words) => warned.push(words.join(" "));
await watch("Relay", (url, token, variables, sink) => {
  const { Environment, Network, Observable, RecordSource, requestSubscription, Store } = relay;
  const ws = webSocket(url, token);
  const receive = (_, given) => Observable.create((observer) => ws.subscribe({ query: WATCHED, variables: given }, observer));
  const network = Network.create(() => { throw new Error("only subscriptions"); }, receive);
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const { dispose } = requestSubscription(environment, {
    subscription: watched,
    variables,
    onNext: (data) => sink.next({ data }),
    onError: (error) => sink.error(codeOf(error)),
  });
  return dispose;
});
assert.deepEqual(warned, []);
process.exit(0); // a socket that waits to connect again would keep the process
