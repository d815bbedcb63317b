// Changes as they happen: subscriptions over one WebSocket, which goes on after a break where it was.
import { type Client as Socket, createClient, type SubscribePayload } from "graphql-ws";
import { type Exchange, subscriptionExchange, type SubscriptionForwarder } from "urql";
import { createStore, useStored } from "./store";

const SECOND = 1_000;
const LONGEST_WAIT = 30 * SECOND;

const connected = createStore<Socket | null>(null);

/** Whether changes arrive now; a page says so only where its first event has come too. */
export function useConnected(): boolean {
  return useStored(connected) !== null;
}

export function liveExchange(token: () => Promise<string>): Exchange {
  const socket = connectedBy(token);
  return subscriptionExchange({
    forwardSubscription: (request) => ({
      subscribe: (sink) => ({ unsubscribe: resuming(socket, { ...request, query: request.query ?? "" }, sink) }),
    }),
  });
}

/** The library connects with the first subscription, again after every break, and leaves with the last one. */
function connectedBy(token: () => Promise<string>): Socket {
  const address = new URL("../graphql", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const socket = createClient({
    url: address.href,
    connectionParams: async () => ({ authorization: `Bearer ${await token()}` }),
    retryAttempts: Infinity,
    retryWait: (attempt) => new Promise((resolve) => setTimeout(resolve, waitBefore(attempt))),
    shouldRetry: () => true, // also where the gateway cannot be reached at all
    keepAlive: 15 * SECOND,
    on: {
      connected: () => connected.set(socket),
      closed() {
        clearTimeout(unanswered);
        if (connected.get() === socket) connected.set(null);
      },
      // a network that has gone says nothing
      ping(received) {
        if (!received) unanswered = setTimeout(() => socket.terminate(), 5 * SECOND);
      },
      pong: (received) => received && clearTimeout(unanswered),
    },
  });
  return socket;
}

/** Longer each time, and not the same for everybody. */
function waitBefore(attempt: number): number {
  return Math.min(SECOND * 2 ** attempt, LONGEST_WAIT) * (0.5 + Math.random() / 2);
}

type Sink = Parameters<ReturnType<SubscriptionForwarder>["subscribe"]>[0];

/** Sends the last position when the library subscribes again, so that nothing is missed or told twice. */
function resuming(socket: Socket, payload: SubscribePayload, sink: Sink): () => void {
  const request = { ...payload, extensions: { ...payload.extensions } };
  return socket.subscribe<Record<string, unknown>, { position?: string }>(request, {
    next(result) {
      if (result.extensions?.position) request.extensions.after = result.extensions.position;
      sink.next(result);
    },
    error: (error) => sink.error(error),
    complete: () => sink.complete(),
  });
}
